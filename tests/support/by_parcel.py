"""Workers in this process that might as well be elsewhere."""

from coordinator.distributed.workers.piece import Piece
from coordinator.distributed.workers.team import Here
from modular.parcel import packed, unpacked


class ByParcel(Here):
    """Workers whose pieces go through bytes on their way there and back, as to another process."""

    def begin(self, pieces):
        self.pieces = pieces
        super().begin([Piece.from_parcel(piece.to_parcel()) for piece in pieces])

    def give_back(self):
        for piece, worker in zip(self.pieces, self.workers, strict=True):
            worker.settle()
            piece.take_state(unpacked(packed({}, worker.piece.state()))[1])
        super().give_back()
