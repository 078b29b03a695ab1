import { type AuditState, StateDocument } from './auditState.ts'
import type { DatabaseSource } from './databaseSource.ts'
import type { Findings } from './findings.ts'

/*
 * Compares the stored tiles, from which the service creates its proofs. A tile has 256 consecutive hashes of one level.
 * They must be the leaf hashes of the bodies, or the roots of complete subtrees.
 */

const tileHashes = 256
const hashBytes = 32
// A tile has 256 = 2^8 hashes, so it covers eight levels of the tree.
const levelsPerTile = 8
// Number of full tiles in one query, which reads about 0.5 MB.
const waitingMax = 64

interface FullTile {
  readonly level: number
  readonly index: number
  /** The 256 hashes, with one character per byte. */
  readonly hashes: string
  /** Root of the subtree over the hashes. '' until the tree reports it. */
  root: string
}

const tilesState = new StateDocument('tiles', (): { growing: string[][]; counts: number[]; waiting: FullTile[] } => {
  // `growing` has the hashes of the incomplete tile of each level. `counts` has the number of full tiles of each level.
  // `waiting` has the full tiles that are not compared yet.
  return { growing: [], counts: [], waiting: [] }
})

export class TilesMatch {
  readonly #findings: Findings
  readonly #state: ReturnType<(typeof tilesState)['of']>
  /** Tree size of the newest stored checkpoint. Undefined until it is needed. */
  #sealedSize: number | undefined
  compared = 0

  constructor(findings: Findings, state: AuditState) {
    this.#findings = findings
    this.#state = tilesState.of(state)
  }

  /** Adds the root of the next complete subtree with 2^level leaves. */
  add(level: number, hash: string): void {
    if (level % levelsPerTile !== 0) return
    const tileLevel = level / levelsPerTile
    // This hash is also the root of the last tile one level below. The tree reports it directly after the last hash of
    // that tile.
    if (tileLevel > 0) {
      const below = this.#state.waiting.findLast((tile) => tile.level === tileLevel - 1)
      if (below !== undefined) below.root = hash
    }
    const growing = (this.#state.growing[tileLevel] ??= [])
    growing.push(hash)
    if (growing.length < tileHashes) return
    const index = this.#state.counts[tileLevel] ?? 0
    this.#state.counts[tileLevel] = index + 1
    this.#state.waiting.push({ level: tileLevel, index, hashes: growing.join(''), root: '' })
    this.#state.growing[tileLevel] = []
  }

  async compare(source: DatabaseSource, isEnd: boolean): Promise<void> {
    if (isEnd) await this.#findSuperfluous(source)
    if (this.#state.waiting.length === 0 || (this.#state.waiting.length < waitingMax && !isEnd)) return
    const waiting = this.#state.waiting
    this.#state.waiting = []
    this.#sealedSize ??= await readSealedSize(source)
    const rows = await source.rows<StoredTile>(
      `select t.level, t.index, t.hashes, t.root from ledger.tiles t
       join unnest($1::smallint[], $2::bigint[]) as wanted (level, index) using (level, index)`,
      [waiting.map(({ level }) => level), waiting.map(({ index }) => index)],
    )
    const stored = new Map(rows.map((row) => [`${row.level}/${row.index}`, row]))
    for (const tile of waiting) this.#judge(tile, stored.get(`${tile.level}/${tile.index}`))
  }

  /** Compares one tile. A tile is stored with the checkpoint that covers it, so newer tiles may be missing. */
  #judge({ level, index, hashes, root }: FullTile, stored: StoredTile | undefined): void {
    const name = `${level}/${index}`
    const [first, next] = [firstLeafOf(level, index), firstLeafOf(level, index + 1)]
    if (stored === undefined) {
      if (next - 1 <= (this.#sealedSize ?? 0))
        this.#blame(first, name, 'the tile is missing: no proof can be made from it')
      return
    }
    this.compared++
    const expected = Buffer.from(hashes, 'latin1')
    const found = stored.hashes ?? Buffer.alloc(0)
    if (!found.equals(expected)) {
      const wrong = Array.from({ length: tileHashes }, (_, at) => at).findIndex(
        (at) => !hashAt(found, at).equals(hashAt(expected, at)),
      )
      const position = first + Math.max(wrong, 0) * tileHashes ** level
      const message = 'the tile holds another hash than the events give: proofs from it would not verify'
      this.#blame(position, name, message)
    } else if (stored.root?.equals(Buffer.from(root, 'latin1')) !== true) {
      this.#blame(first, name, 'the tile has another root than its hashes')
    }
  }

  async #findSuperfluous(source: DatabaseSource): Promise<void> {
    const counts = Array.from({ length: tileLevels }, (_, level) => this.#state.counts[level] ?? 0)
    const rows = await source.rows<{ level: number; index: string }>(
      `select t.level, t.index from ledger.tiles t
       where t.index >= coalesce(($1::bigint[])[t.level + 1], 0) order by t.level, t.index limit ${waitingMax}`,
      [counts],
    )
    for (const { level, index } of rows) {
      const position = firstLeafOf(level, Number(index))
      this.#blame(position, `${level}/${index}`, 'the tile is of events that the ledger does not have')
    }
  }

  #blame(position: number, tile: string, message: string): void {
    this.#findings.add('tile_differs', { position, subject: `tile ${tile}`, message })
  }
}

// Number of tile levels that `ledger.tiles` can have.
const tileLevels = 7

interface StoredTile {
  readonly level: number
  readonly index: string
  readonly hashes: Buffer | null
  readonly root: Buffer | null
}

function firstLeafOf(level: number, index: number): number {
  return index * tileHashes ** (level + 1) + 1
}

async function readSealedSize(source: DatabaseSource): Promise<number> {
  const [row] = await source.rows<{ size: string | null }>('select max(size) as size from ledger.checkpoints')
  return Number(row?.size ?? 0)
}

function hashAt(tile: Buffer, at: number): Buffer {
  return tile.subarray(at * hashBytes, (at + 1) * hashBytes)
}
