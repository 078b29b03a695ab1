import { createCodeMarks } from './codeMarks.ts'
import { createObjectMarks, type ObjectMarks } from './objectMarks.ts'
import { finalChannelOf, readTag, type ReasoningTag, tagBegins } from './reasoningTags.ts'

/** Passes on the text of a reply without the reasoning in it. */
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

/** The reply alone; empty when the text ends within the reasoning. */
export function withoutReasoning(content: string, form: ReasoningForm): string {
  const filter = createReasoningFilter(form)
  const reply = filter.push(content) + filter.end()
  return reply.length === content.length ? content : reply.trim()
}

interface State {
  /** Text that is not read yet. */
  held: string
  hasEnded: boolean
  /** Text of the reply that is not passed on yet. */
  reply: string
  /** White space before the reply, dropped with reasoning that follows it. */
  blank: string
  hasBegun: boolean
  hasDropped: boolean
  /** Tags that are open. */
  depth: number
  /** The text after the last closing tag, while others are open. */
  afterClosing: string | undefined
  isChannels: boolean
  /** Present while the text is within an object with which the reply began. */
  object: ObjectMarks | undefined
  readonly code: ReturnType<typeof createCodeMarks>
}

/**
 * Holds text back until it is certain that no reasoning begins there. Reasoning may begin anywhere outside of code. In the
 * strings of an object with which the reply begins, a tag is data.
 */
export function createReasoningFilter({ opensReasoning }: ReasoningForm): ReasoningFilter {
  const state: State = {
    held: '',
    hasEnded: false,
    reply: '',
    blank: '',
    hasBegun: false,
    hasDropped: false,
    depth: opensReasoning ? 1 : 0,
    afterClosing: undefined,
    isChannels: false,
    object: undefined,
    code: createCodeMarks(),
  }
  const pairs = createPairing()
  let waitsForLine = false
  const read = (text: string): string => {
    state.held += text
    // A long line is not read again with each of its pieces.
    if (waitsForLine && !state.hasEnded && !/[`\n]/.test(text)) return ''
    const isWaiting = readHeld(state)
    waitsForLine = isWaiting === 'line'
    const { reply } = state
    state.reply = ''
    return reply
  }
  return {
    push: (text) => read(pairs.push(text)),
    end() {
      state.hasEnded = true
      return read(pairs.end()) + restOf(state)
    },
  }
}

/** Reads as far as is certain. `line`: the rest of the line decides. */
function readHeld(state: State): 'line' | undefined {
  for (;;) {
    if (state.isChannels || state.held === '') return undefined
    const step = state.depth > 0 ? readReasoning(state) : readText(state)
    if (step !== 'read') return step === 'line' ? 'line' : undefined
  }
}

type Step = 'read' | 'wait' | 'line'

const marks = new RegExp(`[\\n\`~${tagBegins.replace('[', '\\[')}]`)

function readText(state: State): Step {
  if (!state.hasBegun && state.object === undefined && /^\s*\{/.test(state.held)) {
    pass(state, take(state, state.held.indexOf('{')))
    state.object = createObjectMarks()
  }
  if (state.object !== undefined) return readObject(state, state.object)
  const { held, code } = state
  const at = held.search(marks)
  if (at !== 0) {
    const plain = take(state, at === -1 ? held.length : at)
    code.plain(plain)
    pass(state, plain)
    return 'read'
  }
  const [first = ''] = held
  if (first === '\n') {
    pass(state, take(state, 1))
    code.lineBreak()
    return 'read'
  }
  if (tagBegins.includes(first)) return readTagOrText(state)
  const [run = ''] = (first === '`' ? /^`+/ : /^~+/).exec(held) ?? []
  // The next piece may continue the run.
  if (run.length === held.length && !state.hasEnded) return 'wait'
  pass(state, take(state, run.length))
  code.run(run)
  return 'read'
}

function readObject(state: State, object: ObjectMarks): Step {
  const { length, hasEnded } = object.read(state.held, tagBegins)
  if (length === 0) return readTagOrText(state)
  const text = take(state, length)
  state.code.plain(text)
  pass(state, text)
  if (hasEnded) state.object = undefined
  return 'read'
}

function readTagOrText(state: State): Step {
  const { held, code, hasEnded } = state
  const tag = readTag(held, 0)
  if (tag === 'begun' && !hasEnded) return 'wait'
  const isText = tag === 'begun' || tag === undefined || (tag.kind === 'channels' && state.hasBegun)
  const isCode = isText || code.isCode(held.slice(tag.length), hasEnded)
  if (isCode === undefined) return 'line'
  if (isCode) {
    const text = take(state, isText ? 1 : tag.length)
    code.plain(text.replaceAll('\n', ' '))
    pass(state, text)
    return 'read'
  }
  if (tag.kind === 'channels') state.isChannels = true
  else dropTag(state, tag)
  return 'read'
}

function dropTag(state: State, { kind, length }: ReasoningTag): void {
  take(state, length)
  state.hasDropped = true
  state.blank = ''
  if (kind === 'opens') state.depth = 1
  // The chat template has opened the tag, so the text before it was reasoning. Text that was passed on cannot be taken back.
  if (kind === 'closes') [state.reply, state.hasBegun, state.object] = ['', false, undefined]
}

/** Drops text up to the tag that closes the outermost one. */
function readReasoning(state: State): Step {
  const { held, hasEnded } = state
  let at = held.search(/[<[◁]/)
  for (; at !== -1; at = indexAfter(held, at)) {
    const tag = readTag(held, at)
    if (tag === 'begun' && !hasEnded) break
    if (tag === 'begun' || tag === undefined || tag.kind === 'channels') continue
    drop(state, at)
    take(state, tag.length)
    closeOrOpen(state, tag)
    return 'read'
  }
  drop(state, at === -1 ? held.length : at)
  return 'wait'
}

function indexAfter(text: string, at: number): number {
  const next = text.slice(at + 1).search(/[<[◁]/)
  return next === -1 ? -1 : at + 1 + next
}

function closeOrOpen(state: State, { kind }: ReasoningTag): void {
  // A template that opens the tag does not keep every model from writing it again.
  const isRepeated = kind === 'opens' && !state.hasDropped
  state.hasDropped = true
  if (kind === 'opens' && !isRepeated) state.depth++
  if (kind !== 'closes') return
  state.depth--
  state.afterClosing = state.depth === 0 ? undefined : ''
}

/** Reasoning may speak of a tag that it never closes, so the text after the last closing tag is the reply after all. */
function drop(state: State, length: number): void {
  const text = take(state, length)
  if (text.trim() !== '') state.hasDropped = true
  if (state.afterClosing !== undefined) state.afterClosing += text
}

function restOf({ isChannels, held, hasDropped, blank, depth, afterClosing = '' }: State): string {
  if (isChannels) return finalChannelOf(held)
  if (depth > 0) return withoutReasoning(afterClosing, { opensReasoning: false }).trimStart()
  return hasDropped ? '' : blank
}

function take(state: State, length: number): string {
  const taken = state.held.slice(0, length)
  state.held = state.held.slice(length)
  return taken
}

function pass(state: State, text: string): void {
  if (state.hasBegun) {
    state.reply += text
    return
  }
  state.blank += text
  if (state.blank.trim() === '') return
  state.reply += state.hasDropped ? state.blank.trimStart() : state.blank
  state.blank = ''
  state.hasBegun = true
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
