"""The tree over the log is the one of RFC 6962, so that anybody's tools can check it."""

from hashlib import sha256

import pytest

from croupier.services.audit.tree import EMPTY_ROOT, HASH_SIZE, Frontier, leaf_hash

# The leaves and roots that Certificate Transparency publishes for implementers of RFC 6962.
LEAVES = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
]
ROOTS = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


def frontiers(records):
    """The frontier before the first record and after each."""
    frontier = Frontier()
    yield frontier
    for record in records:
        frontier = frontier.append(leaf_hash(record))
        yield frontier


def root_by_definition(records):
    """The Merkle tree hash as RFC 6962 section 2.1 defines it."""
    if not records:
        return sha256(b"").digest()
    if len(records) == 1:
        return sha256(b"\x00" + records[0]).digest()
    cut = 1
    while cut * 2 < len(records):
        cut *= 2
    left, right = root_by_definition(records[:cut]), root_by_definition(records[cut:])
    return sha256(b"\x01" + left + right).digest()


def test_the_published_trees_have_the_published_roots():
    grown = frontiers(bytes.fromhex(leaf) for leaf in LEAVES)
    assert [frontier.root.hex() for frontier in grown] == ROOTS


def test_a_grown_tree_has_the_root_that_the_definition_gives():
    records = [b"record %d" % number for number in range(300)]
    for size, frontier in enumerate(frontiers(records)):
        assert frontier.size == size
        assert frontier.root == root_by_definition(records[:size])


def test_an_empty_tree_has_the_hash_of_nothing_as_its_root():
    assert Frontier().root == EMPTY_ROOT == sha256(b"").digest()


def test_a_frontier_keeps_one_hash_for_each_one_among_the_digits_of_its_size():
    for frontier in frontiers([b""] * 300):
        assert len(frontier.to_bytes()) == HASH_SIZE * f"{frontier.size:b}".count("1")


def test_a_kept_frontier_is_read_back_and_grows_as_before():
    for frontier in frontiers([b"%d" % number for number in range(70)]):
        read = Frontier.from_bytes(frontier.size, frontier.to_bytes())
        assert read == frontier
        assert read.append(leaf_hash(b"next")).root == frontier.append(leaf_hash(b"next")).root


def test_to_append_leaves_the_frontier_as_it_was():
    *_, before = frontiers([b"a", b"b", b"c"])
    root = before.root
    before.append(leaf_hash(b"d"))
    assert before.root == root


@pytest.mark.parametrize(
    "size, joined",
    [
        pytest.param(0, bytes(HASH_SIZE), id="a hash too many for an empty tree"),
        pytest.param(1, b"", id="no hash"),
        pytest.param(3, bytes(HASH_SIZE), id="a hash too few"),
        pytest.param(4, bytes(2 * HASH_SIZE), id="a hash too many"),
        pytest.param(1, bytes(HASH_SIZE - 1), id="a hash cut short"),
        pytest.param(3, bytes(2 * HASH_SIZE - 1), id="the last hash cut short"),
        pytest.param(3, bytes(HASH_SIZE + 1), id="a byte of the second hash only"),
        pytest.param(-1, bytes(HASH_SIZE), id="a size below nothing"),
    ],
)
def test_a_corrupt_frontier_is_refused(size, joined):
    with pytest.raises(ValueError, match=r"subtrees|hashes"):
        Frontier.from_bytes(size, joined)
