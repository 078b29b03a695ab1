import { describe, expect, test } from 'vitest'
import { sha256 } from '@tollbook/core/digest'
import {
  consistencyRanges,
  emptyRoot,
  inclusionRanges,
  isConsistent,
  type LeafRange,
  rootFromInclusion,
  rootOfHashes,
} from '@tollbook/core/merkle'

/*
 * The vectors of certificate-transparency: eight leaves, the roots of the trees over the first n of them, and proofs,
 * as they are published with the first implementation of RFC 6962 and carried by each one since.
 */

const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
const roots = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
]
/** Index, size, path. */
const inclusionProofs: readonly (readonly [number, number, readonly string[]])[] = [
  [0, 1, []],
  [
    0,
    8,
    [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  ],
  [
    5,
    8,
    [
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
  [2, 3, ['fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125']],
  [
    1,
    5,
    [
      '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  ],
]
/** Earlier size, later size, path. */
const consistencyProofs: readonly (readonly [number, number, readonly string[]])[] = [
  [1, 1, []],
  [
    1,
    8,
    [
      '96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7',
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      '6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4',
    ],
  ],
  [
    6,
    8,
    [
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
  [
    2,
    5,
    [
      '5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e',
      'bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b',
    ],
  ],
  [
    6,
    7,
    [
      '0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a',
      'b08693ec2e721597130641e8211e7eedccb4c26413963eee6c1e2ed16ffb1a5f',
      'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    ],
  ],
]

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const bytes = (text: string) => Buffer.from(text, 'hex')
const leaves = inputs.map((input) => sha256(Buffer.concat([Buffer.of(0), bytes(input)])))
const rangeRoot = ({ from, to }: LeafRange) => hex(rootOfHashes(leaves.slice(from, to)))
const head = (size: number) => ({ size, root: bytes(roots[size - 1] ?? '') })

test('the root of no leaves is the hash of nothing', () => {
  expect(hex(emptyRoot)).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  expect(rootOfHashes([])).toBe(emptyRoot)
})

test.each(roots.map((root, k) => [k + 1, root] as const))(
  'RFC 6962: the root of the first %i vectors',
  (size, root) => {
    expect(hex(rootOfHashes(leaves.slice(0, size)))).toBe(root)
  },
)

describe('RFC 6962: the published inclusion proof', () => {
  test.each(inclusionProofs)(
    'of leaf %i in the tree of size %i is made, and leads to the root',
    (index, size, path) => {
      expect(inclusionRanges(index, size).map(rangeRoot)).toEqual(path)
      const root = rootFromInclusion({ index, size, leaf: leaves[index] ?? bytes(''), path: path.map(bytes) })
      expect(root === undefined ? undefined : hex(root)).toBe(roots[size - 1])
    },
  )
})

describe('RFC 6962: the published consistency proof', () => {
  test.each(consistencyProofs)('from size %i to size %i is made, and holds', (from, to, path) => {
    expect(consistencyRanges(from, to).map(rangeRoot)).toEqual(path)
    expect(isConsistent({ earlier: head(from), later: head(to), path: path.map(bytes) })).toBe(true)
  })
})

test('the example of RFC 6962, 2.1.3: which subtrees prove d0, d3, d4 and d6 of seven, and the sizes 3, 4 and 6 to 7', () => {
  const ranges = (all: readonly LeafRange[]) => all.map(({ from, to }) => `${from}-${to}`).join(' ')
  expect([0, 3, 4, 6].map((index) => ranges(inclusionRanges(index, 7)))).toEqual([
    '1-2 2-4 4-7',
    '2-3 0-2 4-7',
    '5-6 6-7 0-4',
    '4-6 0-4',
  ])
  expect([3, 4, 6].map((from) => ranges(consistencyRanges(from, 7)))).toEqual(['2-3 3-4 0-2 4-7', '4-7', '4-6 6-7 0-4'])
})

test('what is in no tree is a bug to ask for, and false when it is claimed', () => {
  const leaf = leaves[0] ?? bytes('')
  for (const [index, size] of [
    [1, 1],
    [-1, 3],
    [0, 0],
    [0.5, 2],
    [0, Number.NaN],
    [0, 2 ** 53],
  ] as const) {
    expect(() => inclusionRanges(index, size)).toThrow(/the leaf is in the tree/)
    expect(rootFromInclusion({ index, size, leaf, path: [] })).toBeUndefined()
  }
  expect(() => consistencyRanges(2, 1)).toThrow(/earlier size to a later/)
  expect(isConsistent({ earlier: { size: 0, root: emptyRoot }, later: head(3), path: [] })).toBe(false)
  expect(isConsistent({ earlier: head(3), later: head(2), path: [] })).toBe(false)
})
