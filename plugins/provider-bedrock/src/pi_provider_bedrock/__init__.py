"""Speaks to Amazon Bedrock's Converse API."""
