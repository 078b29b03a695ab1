import type { DatabaseSource } from './databaseSource.ts'
import type { Findings } from './findings.ts'

/*
 * The stored tiles, from which the service makes its proofs: 256 neighbouring hashes of one level each. They must be the
 * leaves of the bodies and the roots of complete subtrees, as the replay has made them.
 */

const tileHashes = 256
const hashBytes = 32
// Each level of tiles stands for eight levels of the tree.
const levelsPerTile = 8
// Number of full tiles that wait to be compared in one query: half a megabyte.
const waitingMax = 64

interface FullTile {
  readonly level: number
  readonly index: number
  /** Characters for bytes. */
  readonly hashes: string
}

export interface TilesState {
  /** The hashes of the tile that is not full yet, by level, base64. */
  readonly growing: readonly string[]
  readonly counts: readonly number[]
  /** Full and not compared yet. */
  readonly waiting: readonly FullTile[]
}

export class TilesMatch {
  readonly #findings: Findings
  readonly #growing: string[][]
  readonly #counts: number[]
  #waiting: FullTile[]
  compared = 0

  constructor(findings: Findings, state?: TilesState) {
    this.#findings = findings
    this.#growing = (state?.growing ?? []).map((base64) =>
      splitHashes(Buffer.from(base64, 'base64').toString('latin1')),
    )
    this.#counts = [...(state?.counts ?? [])]
    this.#waiting = [...(state?.waiting ?? [])]
  }

  /** A complete subtree of 2^level leaves; the next of its level. */
  add(level: number, hash: string): void {
    if (level % levelsPerTile !== 0) return
    const tileLevel = level / levelsPerTile
    const growing = (this.#growing[tileLevel] ??= [])
    growing.push(hash)
    if (growing.length < tileHashes) return
    const index = this.#counts[tileLevel] ?? 0
    this.#counts[tileLevel] = index + 1
    this.#waiting.push({ level: tileLevel, index, hashes: growing.join('') })
    this.#growing[tileLevel] = []
  }

  /** Compares what has become full; all of it at the end. */
  async compare(source: DatabaseSource, isEnd: boolean): Promise<void> {
    if (this.#waiting.length === 0 || (this.#waiting.length < waitingMax && !isEnd)) return
    const waiting = this.#waiting
    this.#waiting = []
    const rows = await source.rows<{ level: number; index: string; hashes: Buffer }>(
      `select t.level, t.index, t.hashes from ledger.tiles t
       join unnest($1::smallint[], $2::bigint[]) as wanted (level, index) using (level, index)`,
      [waiting.map(({ level }) => level), waiting.map(({ index }) => index)],
    )
    const stored = new Map(rows.map(({ level, index, hashes }) => [`${level}/${index}`, hashes]))
    for (const tile of waiting) this.#judge(tile, stored.get(`${tile.level}/${tile.index}`))
  }

  state(): TilesState {
    return {
      growing: this.#growing.map((hashes) => Buffer.from(hashes.join(''), 'latin1').toString('base64')),
      counts: this.#counts,
      waiting: this.#waiting,
    }
  }

  /** Tiles are made when a checkpoint covers them, so the newest ones may not be there yet; the checkpoints tell. */
  #judge({ level, index, hashes }: FullTile, stored: Buffer | undefined): void {
    if (stored === undefined) return
    this.compared++
    const expected = Buffer.from(hashes, 'latin1')
    if (stored.equals(expected)) return
    const wrong = Array.from({ length: tileHashes }, (_, at) => at).findIndex(
      (at) => !hashAt(stored, at).equals(hashAt(expected, at)),
    )
    const position = (index * tileHashes + Math.max(wrong, 0)) * tileHashes ** level + 1
    const message = 'the tile holds another hash than the events give: proofs from it would not verify'
    this.#findings.add('tile_differs', { position, subject: `tile ${level}/${index}`, message })
  }
}

function hashAt(tile: Buffer, at: number): Buffer {
  return tile.subarray(at * hashBytes, (at + 1) * hashBytes)
}

function splitHashes(text: string): string[] {
  return Array.from({ length: text.length / hashBytes }, (_, at) => text.slice(at * hashBytes, (at + 1) * hashBytes))
}
