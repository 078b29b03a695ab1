import type { Attack, AttackEnvironment, AttackTarget } from './attacks.ts'
import { zoneKinds } from './zone.ts'

/*
 * Names of the attacker's zone, in every place where a page can use a name. Each use has a separate name, because the
 * answers of some change from one question to the next.
 */

export function nameAttacks(environment: AttackEnvironment): readonly Attack[] {
  return zoneKinds.flatMap((kind) =>
    Object.entries(usesOf(environment)).map(([use, targetOf]) => {
      const host = `${use.replaceAll(' ', '')}.${kind}.test`.toLowerCase()
      return {
        group: `name, ${use}`,
        name: kind,
        target: targetOf(`${host}${environment.port}`),
        lookedUp: host,
      }
    }),
  )
}

function usesOf({ site }: AttackEnvironment): Readonly<Record<string, (host: string) => AttackTarget>> {
  return {
    page: (host) => ({ url: `http://${host}/` }),
    redirect: (host) => ({ page: '', status: 302, headers: { location: `http://${host}/` } }),
    subresource: (host) => ({ page: subresourcesAt(host) }),
    worker: (host) => ({ page: workersAt(host) }),
    'frame of another site': (host) => ({ page: `${subresourcesAt(host)}${workersAt(host)}`, isFramed: true }),
    'page of TLS': (host) => ({ page: sharedWorkerAt(host, site), isSecure: true }),
  }
}

function subresourcesAt(host: string): string {
  return `<iframe src="http://${host}/?frame"></iframe><img src="http://${host}/?image">
<script>fetch('http://${host}/?fetch', { mode: 'no-cors' }).catch(() => {}); new WebSocket('ws://${host}/?socket')</script>`
}

/** A worker, and a worker of a worker. */
function workersAt(host: string): string {
  const inner = `fetch('http://${host}/?inner', { mode: 'no-cors' }).catch(() => {})`
  const outer = `fetch('http://${host}/?outer', { mode: 'no-cors' }).catch(() => {}); new WebSocket('ws://${host}/?worker'); ${startWorker(inner)}`
  return `<script>${startWorker(outer)}</script>`
}

function startWorker(source: string): string {
  return `new Worker(URL.createObjectURL(new Blob([${JSON.stringify(source)}], { type: 'text/javascript' })))`
}

function sharedWorkerAt(host: string, site: string): string {
  const source = `fetch('https://${host}/?shared', { mode: 'no-cors' }).catch(() => {})`
  return `<img src="https://${host}/?image"><link rel="preconnect" href="https://${host}/">
<script>new SharedWorker(URL.createObjectURL(new Blob([${JSON.stringify(source)}], { type: 'text/javascript' })))
fetch('https://${host}/?fetch', { mode: 'no-cors' }).catch(() => {}) // ${site}</script>`
}
