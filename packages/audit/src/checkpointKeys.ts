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

/**
 * Size of the largest tree that each recorded key has signed, by the number of the key. A resumed audit needs the sizes
 * of the earlier audits, because it does not read the checkpoints before the resume file's end.
 */
const signedSizes = new StateDocument('signedSizes', () => new Map<number, number>())

// Maximum of checkpoints that wait for their key, because the key may be recorded in a later event. Further checkpoints
// are judged at once.
const deferredMax = 100_000

interface SignedByKey {
  count: number
  largest: SignedCheckpoint
}

/**
 * Decides which keys may sign checkpoints. The auditor's keys are trusted. A recorded key is trusted if a trusted key
 * signed a tree that contains its event. A key must not sign events that were recorded after the key's period ended.
 */
export class CheckpointKeys {
  readonly #deps: CheckpointKeysDeps
  readonly #signed = new Map<number, SignedByKey>()
  readonly #keys = new Map<string, VerifierKey>()
  #deferred: SignedCheckpoint[] = []
  readonly #figures: SignatureFigures = { verified: 0, unverified: 0 }

  constructor(deps: CheckpointKeysDeps) {
    this.#deps = deps
  }

  note(checkpoint: SignedCheckpoint): void {
    if (this.#assign(checkpoint)) return
    if (this.#deferred.length < deferredMax) this.#deferred.push(checkpoint)
    else this.#judgeUnsigned(checkpoint)
  }

  /** Judges the deferred checkpoints and the recorded keys. Called after the last event. */
  finish(): SignatureFigures {
    const origin = this.#deps.periods.of('origin')[0]?.text
    for (const checkpoint of this.#deferred.splice(0)) if (!this.#assign(checkpoint)) this.#judgeUnsigned(checkpoint)
    const trusted = this.#trusted()
    for (const period of this.#recorded()) {
      const signed = this.#signed.get(period.number)
      if (signed === undefined) continue
      if (signed.largest.recordedAtMs >= period.untilMs)
        this.#blame(signed.largest, 'is signed by a key whose time was over')
      if (origin !== undefined && signed.largest.note.origin !== origin) {
        this.#blame(signed.largest, `is of the log ${signed.largest.note.origin}, and the ledger is ${origin}`)
      }
      if (trusted.has(period.number)) this.#figures.verified += signed.count
      else if (this.#deps.given.length === 0) this.#figures.unverified += signed.count
      else
        this.#blame(signed.largest, `is signed by key ${period.number} of the ledger, which no trusted key vouches for`)
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
    const sizes = signedSizes.of(this.#deps.state)
    const isVouchedFor = ({ position }: SettingPeriod): boolean =>
      [...trusted].some((number) => (sizes.get(number) ?? 0) >= position)
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
      const known = this.#signed.get(period.number)
      const largest = known !== undefined && known.largest.size >= size ? known.largest : checkpoint
      this.#signed.set(period.number, { count: (known?.count ?? 0) + 1, largest })
      const sizes = signedSizes.of(this.#deps.state)
      sizes.set(period.number, Math.max(sizes.get(period.number) ?? 0, size))
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
