import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { threadArguments } from '../../src/sourcing/threadArguments.ts'

const module = fileURLToPath(new URL('../../src/sourcing/threadArguments.ts', import.meta.url))

/* The abort itself needs a stop within microseconds: it was seen once, in a test run whose server closed at once. */
test('a thread of a pool loads no ES module by require, because stopping it meanwhile would abort the process', async () => {
  const script = `
    const { parentPort } = require('node:worker_threads')
    try { require(${JSON.stringify(module)}); parentPort.postMessage('loaded') } catch (error) { parentPort.postMessage(error.code) }`
  const thread = new Worker(script, { eval: true, execArgv: [...threadArguments] })
  expect(await once(thread, 'message')).toEqual(['ERR_REQUIRE_ESM'])
})
