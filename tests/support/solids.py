"""A bar of finite elements: triangles in the plane, tetrahedra in space, of constant strain; matrices as any program gives them."""

from itertools import permutations, product

import numpy as np
import scipy.sparse as sparse


def bar(cells, lengths, young=70e9, poisson=0.3, density=2700.0):
    """Places of nodes, mass and stiffness; `cells` along each axis. Each cell is cut into simplices (Kuhn)."""
    d = len(cells)
    axes = [np.linspace(0.0, length, count + 1) for length, count in zip(lengths, cells, strict=True)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, d)
    number = np.arange(len(nodes)).reshape([count + 1 for count in cells])
    lame, shear = young * poisson / ((1 + poisson) * (1 - 2 * poisson)), 0.5 * young / (1 + poisson)
    if d == 2:  # plane stress
        lame = young * poisson / (1 - poisson**2)
    rows, columns, stiff, heavy = [], [], [], []
    for cell in product(*(range(count) for count in cells)):
        for way in permutations(range(d)):
            corners = [np.array(cell)]
            for axis in way:
                corners.append(corners[-1] + np.eye(d, dtype=int)[axis])
            mine = np.array([number[tuple(corner)] for corner in corners])
            edges = nodes[mine[1:]] - nodes[mine[0]]
            volume = abs(np.linalg.det(edges)) / (2.0 if d == 2 else 6.0)
            slopes = np.linalg.inv(edges).T
            slopes = np.concatenate([-slopes.sum(axis=0)[None], slopes])  # of the shape functions, (d + 1, d)
            block = lame * np.einsum("ai,bj->aibj", slopes, slopes) + shear * np.einsum("aj,bi->aibj", slopes, slopes)
            block += shear * np.einsum("ak,bk,ij->aibj", slopes, slopes, np.eye(d))
            shared = density * volume * (1.0 + np.eye(d + 1)) / ((d + 1) * (d + 2))
            places = (d * mine[:, None] + np.arange(d)).ravel()
            rows.append(np.repeat(places, len(places)))
            columns.append(np.tile(places, len(places)))
            stiff.append(volume * block.ravel())
            heavy.append(np.einsum("ab,ij->aibj", shared, np.eye(d)).ravel())
    rows, columns = np.concatenate(rows), np.concatenate(columns)
    shape = (nodes.size, nodes.size)
    mass, stiffness = (
        sparse.csr_matrix((np.concatenate(values), (rows, columns)), shape=shape) for values in (heavy, stiff)
    )
    return nodes, mass, stiffness
