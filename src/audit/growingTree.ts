import { hash } from 'node:crypto'

const hashBytes = 32
// 2^53 leaves, the largest position there can be.
const levelsMax = 54
const nodePrefix = 1

/**
 * RFC 6962, 2.1, over leaves that come one after the other. It keeps one hash for each complete subtree, so its memory is
 * the logarithm of its size, and the root of any size on the way can be asked for when it is reached.
 */
export class GrowingTree {
  #size: number
  readonly #complete: Buffer
  readonly #node = Buffer.alloc(1 + 2 * hashBytes, nodePrefix)

  constructor(state?: TreeState) {
    this.#size = state?.size ?? 0
    this.#complete = Buffer.alloc(levelsMax * hashBytes)
    if (state !== undefined) this.#complete.set(Buffer.from(state.complete, 'base64'))
  }

  get size(): number {
    return this.#size
  }

  add(leafHash: Uint8Array): void {
    let level = 0
    let carried = leafHash
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2) carried = this.#join(level++, carried)
    this.#complete.set(carried, level * hashBytes)
    this.#size++
  }

  root(): Buffer {
    let root: Uint8Array | undefined
    let level = 0
    for (let rest = this.#size; rest > 0; rest = Math.floor(rest / 2)) {
      if (rest % 2 === 1) root = root === undefined ? this.#at(level) : this.#join(level, root)
      level++
    }
    return root === undefined ? hash('sha256', '', 'buffer') : Buffer.from(root)
  }

  state(): TreeState {
    return { size: this.#size, complete: this.#complete.toString('base64') }
  }

  /** The complete subtree of that level on the left, what is given on the right. */
  #join(level: number, right: Uint8Array): Buffer {
    this.#complete.copy(this.#node, 1, level * hashBytes, (level + 1) * hashBytes)
    this.#node.set(right, 1 + hashBytes)
    return hash('sha256', this.#node, 'buffer')
  }

  #at(level: number): Buffer {
    return this.#complete.subarray(level * hashBytes, (level + 1) * hashBytes)
  }
}

export interface TreeState {
  readonly size: number
  readonly complete: string
}
