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
  readonly periods: SettingPeriods
  /** Keys that the auditor supplied. If empty, no key in the ledger can be trusted. */
  readonly given: readonly VerifierKey[]
}

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
  #verified = 0

  constructor(deps: CheckpointKeysDeps) {
    this.#deps = deps
  }

  note(checkpoint: SignedCheckpoint): void {
    if (this.#assign(checkpoint)) return
    if (this.#deferred.length < deferredMax) this.#deferred.push(checkpoint)
    else this.#blame(checkpoint, 'is not signed by the key of the ledger')
  }

  /** Judges the deferred checkpoints and the recorded keys. Called after the last event. */
  finish(): SignatureFigures {
    const origin = this.#deps.periods.of('origin')[0]?.text
    let unverified = 0
    for (const checkpoint of this.#deferred.splice(0)) {
      if (this.#assign(checkpoint)) continue
      const isUnknown = this.#deps.given.length === 0 && this.#recorded().length === 0
      if (isUnknown) unverified++
      else this.#blame(checkpoint, 'is not signed by the key of the ledger')
    }
    const trusted = this.#trusted()
    for (const period of this.#recorded()) {
      const signed = this.#signed.get(period.number)
      if (signed === undefined) continue
      if (signed.largest.recordedAtMs >= period.untilMs)
        this.#blame(signed.largest, 'is signed by a key whose time was over')
      if (origin !== undefined && signed.largest.note.origin !== origin) {
        this.#blame(signed.largest, `is of the log ${signed.largest.note.origin}, and the ledger is ${origin}`)
      }
      if (trusted.has(period.number)) this.#verified += signed.count
      else if (this.#deps.given.length === 0) unverified += signed.count
      else
        this.#blame(signed.largest, `is signed by key ${period.number} of the ledger, which no trusted key vouches for`)
    }
    return { verified: this.#verified, unverified }
  }

  #trusted(): ReadonlySet<number> {
    const trusted = new Set<number>()
    const recorded = this.#recorded()
    const isVouchedFor = ({ position }: SettingPeriod): boolean =>
      [...trusted].some((number) => (this.#signed.get(number)?.largest.size ?? 0) >= position)
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
      return true
    }
    if (!isSignedBy(note, this.#deps.given)) return false
    this.#verified++
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

  #isGiven({ text }: SettingPeriod): boolean {
    return this.#deps.given.some(({ name, keyId }) => {
      return verifierKeyOf(name, Buffer.from(text, 'base64url')).keyId.equals(keyId)
    })
  }

  #blame({ size, source }: SignedCheckpoint, message: string): void {
    const subject = `checkpoint ${size}`
    this.#deps.findings.add('checkpoint_signature_wrong', { position: size, subject, message: `${source} ${message}` })
  }
}
