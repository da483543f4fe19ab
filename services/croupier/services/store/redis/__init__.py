"""The fast engine: Redis, alone, watched by Sentinels, or as a Cluster."""

from croupier.services.store.redis.factory import Factory as Factory
