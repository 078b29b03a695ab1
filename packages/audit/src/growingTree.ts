import { hash } from 'node:crypto'

const hashBytes = 32
const nodePrefix = 1

/**
 * Merkle tree of RFC 6962, 2.1, that grows by one leaf at a time. It stores one hash per level, so its memory grows
 * with the logarithm of its size. Hashes are strings with one character per byte, because Node creates them faster than
 * Buffers.
 */
export class GrowingTree {
  readonly #state: TreeState
  /** Called with the hash of each complete subtree. `level` is the binary logarithm of its number of leaves. */
  onSubtree: ((level: number, hash: string) => void) | undefined
  readonly #node = Buffer.alloc(1 + 2 * hashBytes, nodePrefix)

  constructor(state: TreeState = emptyTree()) {
    this.#state = state
  }

  get size(): number {
    return this.#state.size
  }

  add(leafHash: string): void {
    let level = 0
    let carried = leafHash
    this.onSubtree?.(0, leafHash)
    for (let rest = this.#state.size; rest % 2 === 1; rest = (rest - 1) / 2) {
      carried = this.#join(level++, carried)
      this.onSubtree?.(level, carried)
    }
    this.#state.complete[level] = carried
    this.#state.size++
  }

  root(): Buffer {
    let root: string | undefined
    let level = 0
    for (let rest = this.#state.size; rest > 0; rest = Math.floor(rest / 2)) {
      if (rest % 2 === 1) root = root === undefined ? this.#state.complete[level] : this.#join(level, root)
      level++
    }
    return root === undefined ? hash('sha256', '', 'buffer') : Buffer.from(root, 'latin1')
  }

  /** Returns the parent hash of the complete subtree at this level and the given right hash. */
  #join(level: number, right: string): string {
    this.#node.write(this.#state.complete[level] ?? '', 1, 'latin1')
    this.#node.write(right, 1 + hashBytes, 'latin1')
    return hash('sha256', this.#node, 'binary')
  }
}

export interface TreeState {
  size: number
  /** Hash of the complete subtree at each level. Outdated if the current size has no such subtree. */
  readonly complete: string[]
}

export function emptyTree(): TreeState {
  return { size: 0, complete: [] }
}
