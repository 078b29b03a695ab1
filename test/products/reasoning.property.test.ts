import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { systemClock } from '@tollbook/core/clock'
import { readCompletion, readStream } from '../../src/products/chat/server/chatCompletion.ts'

const server = { label: 'ai-1', model: 'llama3.2', opensReasoning: false }
const opened = { ...server, opensReasoning: true }

type Server = typeof server

const patient = { clock: systemClock, timeoutMs: 60_000, silentMsMax: 60_000 }

/** The reply in a whole completion; empty when it is refused. */
function wholeReply(content: string, of: Server = server): string {
  const choices = [{ message: { content, reasoning_content: 'secret', reasoning: 'secret' }, finish_reason: 'stop' }]
  try {
    return readCompletion(of, { text: JSON.stringify({ choices }), isJson: false }).reply
  } catch {
    return ''
  }
}

async function* onceEach(chunks: readonly Uint8Array[]) {
  for (const chunk of chunks) yield await Promise.resolve(chunk)
}

/** The texts of a stream whose events have one piece each. */
async function streamed(pieces: readonly string[], of: Server = server): Promise<string> {
  const events = pieces.map((content) => {
    const choices = [{ delta: { content, reasoning_content: 'secret', thinking: 'secret' } }]
    return Buffer.from(`data: ${JSON.stringify({ choices })}\n\n`)
  })
  return readAll([...events, Buffer.from('data: [DONE]\n\n')], of)
}

async function readAll(chunks: readonly Uint8Array[], of: Server): Promise<string> {
  let said = ''
  try {
    for await (const text of readStream(of, { body: onceEach(chunks), ...patient })) said += text
  } catch {
    return said
  }
  return said
}

const fence = '```'
const replies: readonly (readonly [content: string, reply: string])[] = [
  ['<think >secret</think >Hi', 'Hi'],
  ['<Think>secret</THINK>Hi', 'Hi'],
  ['<think\n>secret</think\n>\nHi', 'Hi'],
  ['< think>secret< / think>Hi', 'Hi'],
  ['<think budget="3">secret</think>Hi', 'Hi'],
  ['<think/>Hi', 'Hi'],
  ['<thinking\t>secret</thinking>Hi', 'Hi'],
  ['<reasoning effort=high >secret</reasoning>Hi', 'Hi'],
  ['<seed:think>secret</seed:think>Hi', 'Hi'],
  ['<think>a<think>b</think>secret</think>Hi', 'Hi'],
  ['<think>it says <think> once, secret</think>Hi', 'Hi'],
  ['<think>secret</think><think >secret</think>Hi', 'Hi'],
  ['Sure! <think>secret</think>Hi', 'Sure! Hi'],
  ['Sure.\n<thinking>\nsecret\n</thinking>\nHi', 'Sure.\n\nHi'],
  ['Sure. <think>secret, and cut', 'Sure.'],
  ['<|begin_of_thought|>secret<|end_of_thought|>Hi', 'Hi'],
  ['a < b, <b>c</b> and [THIN', 'a < b, <b>c</b> and [THIN'],
  [
    `Use:\n${fence}xml\n<think>example</think>\n${fence}\nDone.`,
    `Use:\n${fence}xml\n<think>example</think>\n${fence}\nDone.`,
  ],
  [`Use:\n${fence}\n</think>\n${fence}\n<think>secret</think>Hi`, `Use:\n${fence}\n</think>\n${fence}\nHi`],
  ['Write `<think>` and `</think>` around it.', 'Write `<think>` and `</think>` around it.'],
  ['A lone ` here <think>secret</think>Hi', 'A lone ` here Hi'],
  ['~~~\n<think>example</think>\n~~~', '~~~\n<think>example</think>\n~~~'],
  ['<think>secret ```</think>Hi', 'Hi'],
  ['<think>secret</think>{"tag":"<think>"}', '{"tag":"<think>"}'],
  ['{"tag":"<think>"} <think>secret</think>Hi', '{"tag":"<think>"} Hi'],
  ['{"tag":"<think> \\" }"}\n<think >secret</think>', '{"tag":"<think> \\" }"}'],
  ['{name}, <think>secret</think>Hi', '{name}, Hi'],
  ['{ "open <think>"\n <think>secret</think>', '{ "open <think>"'],
  ['◁think▷secret◁/think▷Hi ◁', 'Hi ◁'],
  ['<|channel|>analysis<|message|>secret<|end|><|start|>assistant<|channel|>final<|message|>Hi', 'Hi'],
]

describe('reasoning is not sold', () => {
  test.each(replies)('of %j, whole and at every split of the stream', async (content, reply) => {
    expect(wholeReply(content)).toBe(reply)
    for (let at = 0; at <= content.length; at++)
      expect((await streamed([content.slice(0, at), content.slice(at)])).trim(), `split at ${at}`).toBe(reply)
    expect((await streamed(content.split(''))).trim()).toBe(reply)
  })

  test('in an answer whose bytes arrive one by one', async () => {
    const content = 'Sure 🙂 ◁think▷secret◁/think▷<think\n>secret</think>Hé!'
    const event = `data: ${JSON.stringify({ choices: [{ delta: { content }, finish_reason: 'stop' }] })}\r\n\r\n`
    const bytes = [...Buffer.from(event)].map((byte) => Uint8Array.of(byte))
    expect(await readAll(bytes, server)).toBe('Sure 🙂 Hé!')
  })

  test('when the template opened it, whether or not it ends', async () => {
    expect(wholeReply('secret</think>Hi', opened)).toBe('Hi')
    expect(wholeReply('<think>secret</think>Hi', opened)).toBe('Hi')
    expect(wholeReply('secret, and cut', opened)).toBe('')
    expect(await streamed(['<think>', 'secret', '</think >Hi'], opened)).toBe('Hi')
  })

  test('however reasoning, code and text follow each other, and however the stream is split', async () => {
    const piece = fc.constantFrom(
      '<think>',
      '</think>',
      '<Think >',
      '[THINK]',
      '◁',
      '<',
      '{',
      '`',
      fence,
      '~~~',
      '\n',
      ' ',
      'word',
      '🙂',
    )
    const texts = fc.array(piece, { maxLength: 14 }).map((pieces) => pieces.join(''))
    await fc.assert(
      fc.asyncProperty(texts, fc.array(fc.nat({ max: 60 }), { maxLength: 6 }), async (inside, cuts) => {
        // Tags are removed from the text inside, so that it is reasoning to its end.
        const secret = `${inside.replaceAll(/<.{0,7}>|\[THINK\]/g, '')}secret`
        const content = `${inside.includes('{') ? '' : 'So '}<think>${secret}</think>${inside}`
        const at = [0, ...cuts.map((cut) => cut % (content.length + 1)).toSorted((a, b) => a - b), content.length]
        const pieces = at.slice(1).map((end, index) => content.slice(at[index], end))
        expect(await streamed(pieces)).not.toContain('secret')
        expect(wholeReply(content)).not.toContain('secret')
        // Text before a lone closing tag is dropped while it is here, so only texts without one are alike at every split.
        if (!inside.includes('</think>')) expect((await streamed(pieces)).trim()).toBe(wholeReply(content).trim())
      }),
      { numRuns: 300 },
    )
  })
})
