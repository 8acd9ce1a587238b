"""placeholder until the text branch lands"""
