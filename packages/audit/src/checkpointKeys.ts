import { type AuditState, StateDocument } from './auditState.ts'
import { type CheckpointNote, isSignedBy, type VerifierKey, verifierKeyOf } from './checkpointNote.ts'
import type { Findings } from './findings.ts'
import type { SettingPeriod, SettingPeriods } from './settingPeriods.ts'

/** A checkpoint, and the time at which the last event of its tree was recorded. */
export interface SignedCheckpoint {
  readonly note: CheckpointNote
  readonly size: number
  readonly recordedAtMs: number
  readonly source: string
}

export interface SignatureFigures {
  verified: number
  /** Number of checkpoints whose signature is not verified, because the auditor supplied no key. */
  unverified: number
}

export interface CheckpointKeysDeps {
  readonly findings: Findings
  readonly state: AuditState
  readonly periods: SettingPeriods
  /** Keys that the auditor supplied. If empty, no key in the ledger can be trusted. */
  readonly given: readonly VerifierKey[]
}

interface KeysSoFar {
  /** Checkpoint of the largest tree that each recorded key has signed, by the number of the key. */
  readonly signed: Map<number, SignedCheckpoint>
  /** Checkpoints that wait for their key, because the key may be recorded in a later event. */
  readonly deferred: SignedCheckpoint[]
}

/**
 * Stored in the resume file, because a resumed audit does not read these checkpoints again. Every audit judges them at
 * its end, after the file was saved.
 */
const keysSoFar = new StateDocument('checkpointKeys', (): KeysSoFar => ({ signed: new Map(), deferred: [] }))

// Maximum of checkpoints that wait for their key. Further checkpoints are judged at once.
const deferredMax = 100_000

/**
 * Decides which keys may sign checkpoints. A recorded key is trusted if the auditor supplied it, or if a trusted
 * recorded key signed a tree that contains its event. A key must not sign events that were recorded after the key's
 * period ended.
 */
export class CheckpointKeys {
  readonly #deps: CheckpointKeysDeps
  readonly #soFar: KeysSoFar
  /** Number of checkpoints of this audit that each recorded key has signed. */
  readonly #counts = new Map<number, number>()
  readonly #keys = new Map<string, VerifierKey>()
  readonly #figures: SignatureFigures = { verified: 0, unverified: 0 }

  constructor(deps: CheckpointKeysDeps) {
    this.#deps = deps
    this.#soFar = keysSoFar.of(deps.state)
  }

  note(checkpoint: SignedCheckpoint): void {
    if (this.#assign(checkpoint)) return
    if (this.#soFar.deferred.length < deferredMax) this.#soFar.deferred.push(checkpoint)
    else this.#judgeUnsigned(checkpoint)
  }

  /** Judges the deferred checkpoints and the recorded keys. Called after the last event. */
  finish(): SignatureFigures {
    const origin = this.#deps.periods.of('origin')[0]?.text
    for (const checkpoint of this.#soFar.deferred.splice(0))
      if (!this.#assign(checkpoint)) this.#judgeUnsigned(checkpoint)
    const trusted = this.#trusted()
    for (const period of this.#recorded()) {
      const largest = this.#soFar.signed.get(period.number)
      if (largest === undefined) continue
      if (largest.recordedAtMs >= period.untilMs) this.#blame(largest, 'is signed by a key whose time was over')
      if (origin !== undefined && largest.note.origin !== origin)
        this.#blame(largest, `is of the log ${largest.note.origin}, and the ledger is ${origin}`)
      const count = this.#counts.get(period.number) ?? 0
      if (trusted.has(period.number)) this.#figures.verified += count
      else if (this.#deps.given.length === 0) this.#figures.unverified += count
      else this.#blame(largest, `is signed by key ${period.number} of the ledger, which no trusted key vouches for`)
    }
    return this.#figures
  }

  /** A signature by an unknown key is wrong only if the auditor or the ledger names a key. */
  #judgeUnsigned(checkpoint: SignedCheckpoint): void {
    if (this.#deps.given.length === 0 && this.#recorded().length === 0) this.#figures.unverified++
    else this.#blame(checkpoint, 'is not signed by the key of the ledger')
  }

  #trusted(): ReadonlySet<number> {
    const trusted = new Set<number>()
    const recorded = this.#recorded()
    const isVouchedFor = ({ position }: SettingPeriod): boolean =>
      [...trusted].some((number) => (this.#soFar.signed.get(number)?.size ?? 0) >= position)
    // Each pass adds one trusted key, which may confirm further keys. Stop when a pass adds none.
    for (const _ of recorded) {
      const next = recorded.find((period) => {
        return !trusted.has(period.number) && (this.#isGiven(period) || isVouchedFor(period))
      })
      if (next === undefined) break
      trusted.add(next.number)
    }
    return trusted
  }

  /** Counts the checkpoint for the key that signed it. False if neither a recorded nor a supplied key signed it. */
  #assign(checkpoint: SignedCheckpoint): boolean {
    const { note, size } = checkpoint
    const period = this.#recorded().findLast((recorded) => isSignedBy(note, [this.#keyOf(note.origin, recorded)]))
    if (period !== undefined) {
      const { number } = period
      if (size > (this.#soFar.signed.get(number)?.size ?? -1)) this.#soFar.signed.set(number, checkpoint)
      this.#counts.set(number, (this.#counts.get(number) ?? 0) + 1)
      return true
    }
    if (!isSignedBy(note, this.#deps.given)) return false
    this.#figures.verified++
    return true
  }

  #recorded(): readonly SettingPeriod[] {
    return this.#deps.periods.of('receipt-key')
  }

  #keyOf(origin: string, { text }: SettingPeriod): VerifierKey {
    const name = `${origin} ${text}`
    const known = this.#keys.get(name) ?? verifierKeyOf(origin, Buffer.from(text, 'base64url'))
    this.#keys.set(name, known)
    return known
  }

  /**
   * True if the auditor supplied the key. Compares the whole keys, because a forger can find another key with the same
   * 4 bytes of key id.
   */
  #isGiven(period: SettingPeriod): boolean {
    return this.#deps.given.some(({ name, key }) => this.#keyOf(name, period).key.equals(key))
  }

  #blame({ size, source }: SignedCheckpoint, message: string): void {
    const subject = `checkpoint ${size}`
    this.#deps.findings.add('checkpoint_signature_wrong', { position: size, subject, message: `${source} ${message}` })
  }
}
