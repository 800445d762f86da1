"""Koog: `refusal` stands for every failure; the reason is at best the last text."""

from well_behaved import end, serve, text


def prompt(message):
    text("The model is overloaded, I give up.")
    end(message, "refusal")


serve(prompt)
