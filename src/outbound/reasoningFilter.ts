import { readOpening, withoutReasoning } from './reasoning.ts'

/** Passes on the text of a streamed reply without the reasoning before it. */
export interface ReasoningFilter {
  /** The part of the reply that is certain by now; often empty at first. */
  push(text: string): string
  /** The rest, once the text has ended. */
  end(): string
}

export interface ReasoningForm {
  /** The text begins within the reasoning, because the chat template has opened it. */
  readonly opensReasoning: boolean
}

// Longer than every opening tag. A longer text is read again only when a closing tag may have ended.
const openingMax = 64
const endOfTag = /[>\]▷]/

/** Holds text back until it is certain that no reasoning begins, and drops reasoning up to its closing tag. */
export function createReasoningFilter({ opensReasoning }: ReasoningForm): ReasoningFilter {
  let held = opensReasoning ? '<think>' : ''
  let isReply = false
  const pairs = createPairing()
  return {
    push(text) {
      const readable = pairs.push(text)
      if (isReply) return readable
      held += readable
      if (held.length > openingMax && !endOfTag.test(readable)) return ''
      const reply = readOpening(held)
      isReply = reply !== undefined
      return reply ?? ''
    },
    end: () => (isReply ? pairs.end() : withoutReasoning(held + pairs.end())),
  }
}

/** Half of a surrogate pair waits for its other half. */
function createPairing() {
  let half = ''
  return {
    push(text: string): string {
      const joined = half + text
      half = /[\ud800-\udbff]$/.exec(joined)?.[0] ?? ''
      return joined.slice(0, joined.length - half.length).toWellFormed()
    },
    end: () => half.toWellFormed(),
  }
}
