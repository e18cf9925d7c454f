"""Bridges to other libraries.

Each module needs the library it is named after, which is never installed or imported for you:
`dataworth.integrations.cleanlab`, `dataworth.integrations.opendataval`.
"""
