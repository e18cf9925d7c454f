"""Two networks for small images, trained the same way: the only module that needs torch."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dataworth.arrays import Ints
from dataworth.errors import extra

STEPS = 150
BATCH = 128
LEARNING_RATE = 1e-3


def load() -> Any:
    """Import torch, which nothing else does, and set it to one thread and to repeatable results."""
    torch = extra("torch", "selection", "paper")
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    return torch


def cnn(torch: Any, n_classes: int) -> Any:
    """Three convolutions, 16 to 64 channels."""
    nn = torch.nn
    layers = []
    for before, after in ((3, 16), (16, 32), (32, 64)):
        layers += [nn.Conv2d(before, after, 3, padding=1, bias=False), nn.BatchNorm2d(after)]
        layers += [nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(64 * 4 * 4, n_classes))


def resnet18(torch: Any, n_classes: int) -> Any:
    """ResNet18 for images of 32 × 32: the first convolution is 3 × 3, without pooling."""
    nn: Any = torch.nn

    class Block(nn.Module):
        def __init__(self, before: int, after: int, stride: int) -> None:
            super().__init__()
            self.body = nn.Sequential(
                nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after),
                nn.ReLU(),
                nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.BatchNorm2d(after),
            )  # fmt: skip
            self.past = nn.Identity()
            if stride != 1 or before != after:
                self.past = nn.Sequential(
                    nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)
                )

        def forward(self, x: Any) -> Any:
            return torch.relu(self.body(x) + self.past(x))

    layers = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    before = 64
    for after, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        layers += [Block(before, after, stride), Block(after, after, 1)]
        before = after
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, n_classes))


MODELS = {"cnn": cnn, "resnet18": resnet18}


def accuracy(
    model: str,
    images: NDArray[np.uint8],
    labels: Ints,
    test_images: NDArray[np.uint8],
    test_labels: Ints,
    *,
    n_classes: int,
    seed: int,
    steps: int = STEPS,
) -> float:
    """Share of test images recognised after training: Adam, a fixed number of steps.

    The number of steps, not of epochs, is fixed, so that a small training set is not trained less.
    """
    torch = load()
    torch.manual_seed(seed)
    net = MODELS[model](torch, n_classes)
    optimiser = torch.optim.Adam(net.parameters(), lr=LEARNING_RATE)
    X, y = torch.from_numpy(_scaled(images)), torch.from_numpy(labels)
    rng = np.random.default_rng(seed)
    net.train()
    order, size = np.empty(0, np.int64), min(BATCH, labels.size)
    for _ in range(steps):
        while order.size < size:
            order = np.concatenate([order, rng.permutation(labels.size)])
        batch, order = torch.from_numpy(order[:size]), order[size:]
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(net(X[batch]), y[batch]).backward()
        optimiser.step()
    net.eval()
    right = 0
    with torch.no_grad():
        for start in range(0, test_labels.size, 500):
            part = torch.from_numpy(_scaled(test_images[start : start + 500]))
            guess = net(part).argmax(dim=1).numpy()
            right += int((guess == test_labels[start : start + 500]).sum())
    return right / test_labels.size


def _scaled(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """(n, 3072) bytes, channels last, as (n, 3, 32, 32) numbers around 0."""
    shaped = images.reshape(-1, 32, 32, 3).transpose(0, 3, 1, 2)
    return np.ascontiguousarray((shaped.astype(np.float32) - 127.0) / 64.0)
