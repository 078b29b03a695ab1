import { hash } from 'node:crypto'

const hashBytes = 32
const nodePrefix = 1

/**
 * RFC 6962, 2.1, over leaves that come one after the other. It keeps one hash for each complete subtree, so its memory is
 * the logarithm of its size, and the root of any size on the way can be asked for when it is reached. Hashes are strings
 * of one character for each byte: Node makes those in a quarter of the time of a Buffer.
 */
export class GrowingTree {
  #size: number
  /** Hash of the complete subtree of each level. The entry of a level without one is out of date. */
  readonly #complete: string[]
  /** Called with each complete subtree and the logarithm of its leaves. */
  onSubtree: ((level: number, hash: string) => void) | undefined
  readonly #node = Buffer.alloc(1 + 2 * hashBytes, nodePrefix)

  constructor(state?: TreeState) {
    this.#size = state?.size ?? 0
    this.#complete = (state?.complete ?? []).map((base64) => Buffer.from(base64, 'base64').toString('latin1'))
  }

  get size(): number {
    return this.#size
  }

  add(leafHash: string): void {
    let level = 0
    let carried = leafHash
    this.onSubtree?.(0, leafHash)
    for (let rest = this.#size; rest % 2 === 1; rest = (rest - 1) / 2) {
      carried = this.#join(level++, carried)
      this.onSubtree?.(level, carried)
    }
    this.#complete[level] = carried
    this.#size++
  }

  root(): Buffer {
    let root: string | undefined
    let level = 0
    for (let rest = this.#size; rest > 0; rest = Math.floor(rest / 2)) {
      if (rest % 2 === 1) root = root === undefined ? this.#complete[level] : this.#join(level, root)
      level++
    }
    return root === undefined ? hash('sha256', '', 'buffer') : Buffer.from(root, 'latin1')
  }

  state(): TreeState {
    return { size: this.#size, complete: this.#complete.map((text) => Buffer.from(text, 'latin1').toString('base64')) }
  }

  /** The complete subtree of that level on the left, what is given on the right. */
  #join(level: number, right: string): string {
    this.#node.write(this.#complete[level] ?? '', 1, 'latin1')
    this.#node.write(right, 1 + hashBytes, 'latin1')
    return hash('sha256', this.#node, 'binary')
  }
}

/** State for a resumed audit; hashes are base64. */
export interface TreeState {
  readonly size: number
  readonly complete: readonly string[]
}
