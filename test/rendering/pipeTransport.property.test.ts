import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPipeTransport } from '../../src/rendering/pipeTransport.ts'

test('messages arrive whole and in order, wherever the pipe cuts them', async () => {
  const messages = fc.array(fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0')))
  await fc.assert(
    fc.asyncProperty(messages, fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), async (sent, cuts) => {
      const answers = new PassThrough()
      const transport = createPipeTransport({ commands: new PassThrough(), answers })
      const received: string[] = []
      const closed = Promise.withResolvers<void>()
      const onmessage = (message: string) => void received.push(message)
      // A connection of puppeteer sets these two.
      Object.assign(transport, { onmessage, onclose: closed.resolve })
      const bytes = Buffer.from(sent.map((message) => `${message}\0`).join(''))
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const end = at + (cuts[turn % cuts.length] ?? 1)
        answers.write(bytes.subarray(at, end))
        at = end
      }
      answers.end()
      await closed.promise
      expect(received).toEqual(sent)
    }),
    { numRuns: 50 },
  )
})
