"""The trusted core: states claims, settles them and keeps the evidence; it knows no theorem."""
