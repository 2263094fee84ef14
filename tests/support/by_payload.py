"""Workers in this process that might as well be elsewhere."""

from coordinator.distributed.workers.shard import Shard
from coordinator.distributed.workers.worker_pool import InProcessPool
from modular.payload import packed, unpacked


class ByPayload(InProcessPool):
    """Workers whose shards go through bytes on their way there and back, as to another process."""

    def distribute(self, shards):
        self.shards = shards
        super().distribute([Shard.from_payload(shard.to_payload()) for shard in shards])

    def collect(self):
        for shard, worker in zip(self.shards, self.workers, strict=True):
            worker.settle()
            shard.take_state(unpacked(packed({}, worker.shard.state()))[1])
        super().collect()
