import { type Server, type Socket, createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describeError } from '@tollbook/core/fault'
import type { DatabaseTemplate } from './databaseTemplate.ts'

/*
 * Test files run in separate processes. The first that needs a database requests it here, in the main process, and only
 * then is Postgres started; a run of unit tests alone never starts it. The socket is in a directory of the run.
 */
export interface DatabaseBroker {
  readonly socketPath: string
  readonly close: () => Promise<void>
}

type Answer = { readonly template: DatabaseTemplate } | { readonly failure: string }

export async function openDatabaseBroker(
  directory: string,
  prepare: () => Promise<DatabaseTemplate>,
): Promise<DatabaseBroker> {
  let prepared: Promise<Answer> | undefined
  const server = createServer((socket) => {
    prepared ??= prepare().then(
      (template) => ({ template }),
      (error: unknown) => ({ failure: describeError(error) }),
    )
    void prepared.then((answer) => reply(socket, answer))
  })
  const socketPath = join(directory, 'broker')
  await listen(server, socketPath)
  return { socketPath, close: () => close(server) }
}

export async function askForTemplate(socketPath: string): Promise<DatabaseTemplate> {
  const answer: Answer = JSON.parse(await text(createConnection(socketPath)))
  if ('failure' in answer) throw new Error(`there is no Postgres for the tests: ${answer.failure}`)
  return answer.template
}

/** A worker that ended while it waited for its answer is not our fault. */
function reply(socket: Socket, answer: Answer): void {
  socket.on('error', () => undefined)
  socket.end(JSON.stringify(answer))
}

function listen(server: Server, socketPath: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(socketPath, () => resolve())
  })
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()))
}
