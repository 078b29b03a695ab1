import { expect, test } from 'vitest'
import { askForTemplate, openDatabaseBroker } from './databaseBroker.ts'
import type { DatabaseTemplate } from './databaseTemplate.ts'
import { makeScratchDirectory } from './scratchDirectory.ts'

const template: DatabaseTemplate = { adminUrl: 'postgres://somewhere', name: 'tollbook_template_1' }

test('no Postgres is started until a test file asks, and then one for all that ask', async () => {
  let preparations = 0
  const broker = await openDatabaseBroker(await makeScratchDirectory(), () => {
    preparations++
    return Promise.resolve(template)
  })
  expect(preparations).toBe(0)
  const answers = await Promise.all(Array.from({ length: 5 }, () => askForTemplate(broker.socketPath)))
  expect(answers).toEqual(Array.from({ length: 5 }, () => template))
  expect(preparations).toBe(1)
  await broker.close()
})

test('each requester gets the reason why there is no Postgres', async () => {
  const broker = await openDatabaseBroker(await makeScratchDirectory(), () =>
    Promise.reject(new Error('migration 0002 failed')),
  )
  await expect(askForTemplate(broker.socketPath)).rejects.toThrow('migration 0002 failed')
  await broker.close()
})
