import type { Failure } from '../product/product.ts'
import type { ProvidersFailed } from './askInTurn.ts'
import { ProvidersDiffer } from './askForAgreement.ts'

export interface AnswerWords {
  readonly what: string
  /** Advice for a caller whose item does not exist. Absent: the message advises only to check the spelling. */
  readonly hint?: string
}

export function failureOfCode(
  { what, hint }: AnswerWords,
  code: 'NO_DATA' | 'UPSTREAM_FAILED' | 'UPSTREAM_TIMEOUT',
): Failure {
  const help = hint === undefined ? 'check the spelling' : `check the spelling: ${hint}`
  const said = {
    NO_DATA: `no provider has ${what} for this request; ${help}`,
    UPSTREAM_FAILED: `no provider of ${what} gave a usable answer; repeat with the same proof`,
    UPSTREAM_TIMEOUT: `no provider of ${what} answered in time; repeat with the same proof`,
  }
  return { kind: 'failed', code, message: said[code] }
}

export function failureOfError(words: AnswerWords, error: ProvidersFailed): Failure {
  if (!(error instanceof ProvidersDiffer)) return failureOfCode(words, error.code)
  const { what } = words
  const why = error.isAlone
    ? `only one provider of ${what} answers, and its answer needs the confirmation of another`
    : `the providers of ${what} differ from each other by more than their tolerance`
  const message = `${why}, so none is sold; repeat with the same proof`
  return { kind: 'failed', code: 'UPSTREAM_FAILED', message }
}
