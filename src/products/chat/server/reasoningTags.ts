/* The marks with which language models enclose their reasoning. Servers that do not know the model pass them on as text. */

export interface ReasoningTag {
  /** `empty` opens and closes at once. `channels` begins a text in the format of gpt-oss. */
  readonly kind: 'opens' | 'closes' | 'empty' | 'channels'
  readonly length: number
}

const names = 'think|thinking|thoughts?|reasoning|seed:think|antml:thinking'
// Attributes and white space occur: `<think budget="3">`, `<think >`, `< / think>`.
const tag = new RegExp(`<\\s{0,8}(?<slash>/\\s{0,8})?(?:${names})(?:\\s[^<>]{0,200})?/?>`, 'iy')
const begunTag = new RegExp(`<\\s{0,8}(?:/\\s{0,8})?(?:[a-z:]{0,14}|(?:${names})(?:\\s[^<>]{0,200})?/?)$`, 'iy')

// Magistral, Kimi, OpenThinker, gpt-oss.
const exactTags: readonly (readonly [text: string, kind: ReasoningTag['kind']])[] = [
  ['[THINK]', 'opens'],
  ['[/THINK]', 'closes'],
  ['◁think▷', 'opens'],
  ['◁/think▷', 'closes'],
  ['<|begin_of_thought|>', 'opens'],
  ['<|end_of_thought|>', 'closes'],
  ['<|think|>', 'opens'],
  ['<|/think|>', 'closes'],
  ['<|channel|>', 'channels'],
  ['<|start|>', 'channels'],
]

/** The characters with which a tag begins. */
export const tagBegins = '<[◁'

/** The tag at a place of a text; `begun` when the text ends within what may become one. */
export function readTag(text: string, at: number): ReasoningTag | 'begun' | undefined {
  tag.lastIndex = at
  const found = tag.exec(text)
  if (found !== null) {
    const kind = found.groups?.['slash'] !== undefined ? 'closes' : found[0].endsWith('/>') ? 'empty' : 'opens'
    return { kind, length: found[0].length }
  }
  begunTag.lastIndex = at
  if (begunTag.test(text)) return 'begun'
  for (const [exact, kind] of exactTags) {
    if (text.startsWith(exact, at)) return { kind, length: exact.length }
    if (text.length - at < exact.length && exact.startsWith(text.slice(at))) return 'begun'
  }
  return undefined
}

const finalChannel = /<\|channel\|>final(?:\s[^<]*)?<\|message\|>/
const endOfMessage = /<\|(?:end|return)\|>[\s\S]*$/

/** The reply in a text of gpt-oss: the channel `final`. Empty when it has none. */
export function finalChannelOf(text: string): string {
  const [, final] = text.split(finalChannel)
  return final === undefined ? '' : final.replace(endOfMessage, '').trim()
}
