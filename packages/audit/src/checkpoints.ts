import { AuditFault } from './auditFault.ts'
import { StateDocument } from './auditState.ts'
import { CheckpointKeys, type CheckpointKeysDeps, type SignatureFigures } from './checkpointKeys.ts'
import { readCheckpoint } from './checkpointNote.ts'
import type { DatabaseSource } from './databaseSource.ts'
import { GrowingTree } from './growingTree.ts'

/** A claim that the Merkle tree of the ledger had this root at this size. The audit compares it with its own tree. */
export interface StatedRoot {
  readonly size: number
  readonly root: Uint8Array
  /** Description of where the statement is from: the database, an export, or a file of the auditor. */
  readonly source: string
  /** Text of the signed note. Undefined for the head of an export, which is not signed. */
  readonly note: string | undefined
}

/** A checkpoint from a file of the auditor. `name` is the name of the file. */
export interface GivenCheckpoint {
  readonly name: string
  readonly note: string
}

/** Returns the root that a checkpoint states. Throws an `AuditFault` if the text is not a checkpoint. */
export function statedRootOf({ name, note }: GivenCheckpoint): StatedRoot {
  const checkpoint = readCheckpoint(note)
  if (checkpoint === undefined) throw new AuditFault(`${name} is not a checkpoint`, { retryable: false })
  return { size: checkpoint.size, root: checkpoint.root, note, source: name }
}

export interface CheckpointFigures extends SignatureFigures {
  compared: number
  /** Checkpoints of the auditor or the export that are smaller than the tree of the resume file. */
  readonly skipped: number
}

/** Size of the largest checkpoint that this audit, or an earlier audit of the resume file, has compared. -1: none. */
const comparedSoFar = new StateDocument('comparedCheckpoints', () => ({ largestSize: -1 }))

export interface CheckpointDeps extends CheckpointKeysDeps {
  /** Roots from an export or from files of the auditor. */
  readonly roots: readonly StatedRoot[]
  /** Reads the next page of the stored checkpoints that are larger than `afterSize`. Undefined for an export. */
  readonly stored: ((afterSize: number) => Promise<readonly StatedRoot[]>) | undefined
}

/** Checkpoints wait in the order of their sizes, because the tree has the root of a size only while it has that size. */
export class Checkpoints {
  readonly figures: CheckpointFigures
  readonly #deps: CheckpointDeps
  readonly #keys: CheckpointKeys
  #waiting: StatedRoot[]
  #storedUpto: number
  #allStoredRead: boolean
  /** Size of the last tree whose root matched a stated root. A resumed audit begins with the size of its resume file. */
  #agreedSize: number

  constructor(deps: CheckpointDeps, fromSize = 0) {
    this.#deps = deps
    this.#keys = new CheckpointKeys(deps)
    const isSkipped = ({ size }: StatedRoot): boolean => size < fromSize && size > 0
    const skipped = deps.roots.filter((stated) => isSkipped(stated) && stated.note !== undefined).length
    this.figures = { compared: 0, skipped, verified: 0, unverified: 0 }
    this.#waiting = deps.roots.filter((stated) => !isSkipped(stated)).toSorted(bySize)
    this.#storedUpto = fromSize
    this.#agreedSize = fromSize
    this.#allStoredRead = deps.stored === undefined
  }

  /** Size of the largest tree of a compared checkpoint. -1 if no audit of this resume file has compared one. */
  get coveredSize(): number {
    return comparedSoFar.of(this.#deps.state).largestSize
  }

  /** Loads all stated roots up to this size. Called before the events up to this size are replayed. */
  async load(uptoSize: number): Promise<void> {
    while (!this.#allStoredRead && this.#storedUpto < uptoSize) {
      const page = (await this.#deps.stored?.(this.#storedUpto)) ?? []
      this.#waiting = [...this.#waiting, ...page].toSorted(bySize)
      this.#storedUpto = page.at(-1)?.size ?? this.#storedUpto
      this.#allStoredRead = page.length === 0
    }
  }

  /** Compares the stated roots for the tree's current size. Called before the first event and after each event. */
  compare(tree: GrowingTree, recordedAtMs: number): void {
    while (this.#waiting[0] !== undefined && this.#waiting[0].size <= tree.size) {
      const stated = this.#waiting.shift()
      if (stated !== undefined) this.#judge(stated, tree, recordedAtMs)
    }
  }

  /**
   * Reports the checkpoints that cover more events than the ledger has, and judges the keys. Called after the last
   * event.
   */
  async finish(tree: GrowingTree, recordedAtMs: number): Promise<void> {
    await this.load(Infinity)
    this.compare(tree, recordedAtMs)
    for (const { size, source } of this.#waiting) {
      const message = `${source} is of ${size} events, and the ledger has ${tree.size}: its end is gone, or an older copy was restored`
      this.#deps.findings.add('tree_too_small', { position: tree.size + 1, subject: `checkpoint ${size}`, message })
    }
    Object.assign(this.figures, this.#keys.finish())
  }

  #judge(stated: StatedRoot, tree: GrowingTree, recordedAtMs: number): void {
    const { size, root, source, note } = stated
    const { findings } = this.#deps
    if (note !== undefined) {
      this.figures.compared++
      const soFar = comparedSoFar.of(this.#deps.state)
      soFar.largestSize = Math.max(soFar.largestSize, size)
    }
    const subject = `checkpoint ${size}`
    if (rootAt(size, tree).equals(root)) this.#agreedSize = size
    else {
      const code = note === undefined ? 'export_root_differs' : 'checkpoint_root_differs'
      const message = `${source} states another root for the first ${size} events; the first ${this.#agreedSize} are not in doubt`
      findings.add(code, { position: size, subject, message })
    }
    if (note === undefined) return
    const read = readCheckpoint(note)
    if (read === undefined || read.size !== size || !read.root.equals(root)) {
      const message = `${source} is not a checkpoint of that size and root`
      findings.add('checkpoint_malformed', { position: size, subject, message })
    } else this.#keys.note({ note: read, size, recordedAtMs, source })
  }
}

const pageRows = 1_000

export function storedCheckpoints(source: DatabaseSource): NonNullable<CheckpointDeps['stored']> {
  return async (afterSize) => {
    // Stop at a size that JavaScript cannot represent exactly, because only a forged checkpoint is this large.
    if (afterSize > Number.MAX_SAFE_INTEGER) return []
    const rows = await source.rows<{ size: string; root: Buffer | null; note: string | null }>(
      `select size, root, note from ledger.checkpoints where size > $1 order by size limit ${pageRows}`,
      [afterSize],
    )
    return rows.map(({ size, root, note }) => {
      return { size: Number(size), root: root ?? Buffer.alloc(0), note: note ?? '', source: 'a stored checkpoint' }
    })
  }
}

/** For size 0, returns the root of an empty tree, because such a checkpoint may be compared when the tree has grown. */
function rootAt(size: number, tree: GrowingTree): Buffer {
  return size === 0 ? new GrowingTree().root() : tree.root()
}

function bySize(one: StatedRoot, other: StatedRoot): number {
  return one.size - other.size
}
