/*
 * Reasoning models write their reasoning before the reply, between special tags. Servers that do not know the model
 * pass both on as one text.
 */

// Pairs of tags: most models, DeepSeek and Qwen among them; Magistral; Kimi.
const openings = /^\s*(?:<(?<tag>think|thinking|thought|reasoning|seed:think)>|\[(?<mark>THINK)\]|◁(?<sign>think)▷)/i
const someTag = /<(?:think|thinking|thought|reasoning|seed:think)>/i
const loneClosing = /<\/(?:think|thinking|thought|reasoning|seed:think)>/i
// The format of gpt-oss: the reply is the channel `final`.
const channel = /^\s*<\|(?:start\|>assistant<\|)?channel\|>/
const finalChannel = /<\|channel\|>final(?:\s[^<]*)?<\|message\|>/
const endOfMessage = /<\|(?:end|return)\|>[\s\S]*$/
// No model writes more blocks than this.
const blocksMax = 20

/** The reply alone; empty when the text ends within the reasoning. */
export function withoutReasoning(content: string): string {
  if (channel.test(content)) {
    const [, final] = content.split(finalChannel)
    return final === undefined ? '' : final.replace(endOfMessage, '').trim()
  }
  // Some chat templates open the tag in the prompt, so the text has only its end.
  const closing = someTag.test(content) ? null : loneClosing.exec(content)
  if (closing !== null) return content.slice(closing.index + closing[0].length).trim()
  let rest = content
  for (let blocks = 0; blocks < blocksMax; blocks++) {
    const opening = openings.exec(rest)
    if (opening === null) return blocks === 0 ? content : rest.trim()
    const end = closingOf(opening.groups)
    const at = rest.toLowerCase().indexOf(end, opening[0].length)
    if (at === -1) return ''
    rest = rest.slice(at + end.length)
  }
  return ''
}

// Every opening tag, as far as it must be known to tell whether a text may still become one.
const openingTexts = [
  ...['think', 'thinking', 'thought', 'reasoning', 'seed:think'].map((tag) => `<${tag}>`),
  '[think]',
  '◁think▷',
]

/** The reply, as soon as the text up to here is certain to contain no more reasoning; undefined before that. */
export function readOpening(content: string): string | undefined {
  // The channels of gpt-oss have no closing tag, so they are read when the text has ended.
  if (content.trimStart().startsWith('<|')) return undefined
  let rest = content
  for (let blocks = 0; blocks < blocksMax; blocks++) {
    const opening = openings.exec(rest)
    if (opening === null) {
      const begun = rest.trimStart().toLowerCase()
      const mayOpen = begun === '<' || openingTexts.some((text) => text.startsWith(begun))
      if (mayOpen) return undefined
      return blocks === 0 ? rest : rest.trimStart()
    }
    const end = closingOf(opening.groups)
    const at = rest.toLowerCase().indexOf(end, opening[0].length)
    if (at === -1) return undefined
    rest = rest.slice(at + end.length)
  }
  return ''
}

function closingOf(groups: Readonly<Record<string, string | undefined>> | undefined): string {
  if (groups?.['mark'] !== undefined) return '[/think]'
  return groups?.['sign'] === undefined ? `</${groups?.['tag']?.toLowerCase() ?? ''}>` : '◁/think▷'
}
