import { existsSync } from 'node:fs'
import { type RequestOptions, request } from 'node:http'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Whether a Docker engine answers, within two seconds at most. Looks where testcontainers would look. */
export async function dockerAnswers(environment: NodeJS.ProcessEnv): Promise<boolean> {
  const address = engineAddress(environment)
  return address === undefined ? false : ping(address)
}

function engineAddress(environment: NodeJS.ProcessEnv): RequestOptions | undefined {
  const host = environment['DOCKER_HOST']
  if (host !== undefined && host !== '') {
    const url = new URL(host)
    return url.protocol === 'unix:' ? { socketPath: url.pathname } : { host: url.hostname, port: url.port }
  }
  const candidates = [
    '/var/run/docker.sock',
    join(environment['XDG_RUNTIME_DIR'] ?? '/nonexistent', 'docker.sock'),
    join(homedir(), '.docker/run/docker.sock'),
  ]
  const socketPath = candidates.find((path) => existsSync(path))
  return socketPath === undefined ? undefined : { socketPath }
}

function ping(address: RequestOptions): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ ...address, path: '/_ping', signal: AbortSignal.timeout(pingTimeoutMs) }, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
    asked.once('error', () => resolve(false))
    asked.end()
  })
}

const pingTimeoutMs = 2_000
