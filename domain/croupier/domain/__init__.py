"""The rules of games and money: pure functions over frozen values, standard library only.

Nothing here reads a clock, a disk, a socket or a random source. Commands are decided into
events; events are folded into state; settlement turns outcomes and odds into payouts.
"""
