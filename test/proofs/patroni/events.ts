import { systemClock } from '@tollbook/core/clock'
import type { Cluster } from './cluster.ts'
import type { Node } from './node.ts'

/** Something that happens to the cluster under load. */
export interface ClusterEvent {
  readonly name: string
  /** Without a synchronous standby, as the counter-example. */
  readonly asynchronous?: boolean
  happen(cluster: Cluster): Promise<void>
  /** Brings back what the event took away; Patroni does the rest. */
  recover?(cluster: Cluster): Promise<void>
}

const standbysLostMs = 20_000
const frozenMs = 45_000
const etcdLostMs = 30_000
const standbyBehindMs = 4_000

/** Nodes that an event has taken down. */
const down = new Set<Node>()

async function killNode(node: Node): Promise<void> {
  await node.kill()
  down.add(node)
}

function returnNodes(): Promise<void> {
  for (const node of down) node.startPatroni()
  down.clear()
  return Promise.resolve()
}

export const clusterEvents: readonly ClusterEvent[] = [
  {
    name: 'primary node killed',
    happen: async (cluster) => killNode(await cluster.primary()),
    recover: returnNodes,
  },
  {
    name: "primary's Postgres killed",
    happen: async (cluster) => (await cluster.primary()).killPostgres(),
  },
  { name: 'switchover', happen: (cluster) => cluster.switchOver() },
  {
    name: 'synchronous standby killed',
    happen: async (cluster) => killNode(await cluster.synchronousStandby()),
    recover: returnNodes,
  },
  {
    name: 'both standbys lost for 20 s',
    async happen(cluster) {
      const primary = await cluster.primary()
      for (const node of cluster.nodes) if (node !== primary) await killNode(node)
      await systemClock.sleep(standbysLostMs)
      await returnNodes()
    },
  },
  {
    name: 'primary node frozen for 45 s',
    async happen(cluster) {
      const primary = await cluster.primary()
      primary.freeze()
      await systemClock.sleep(frozenMs)
      primary.thaw()
    },
  },
  {
    name: 'two of three etcd lost for 30 s',
    async happen({ nodes }) {
      const lost = nodes.slice(0, 2)
      for (const node of lost) await node.killEtcd()
      await systemClock.sleep(etcdLostMs)
      for (const node of lost) node.startEtcd()
    },
  },
  {
    name: 'asynchronous, standbys 4 s behind, primary node killed',
    asynchronous: true,
    async happen(cluster) {
      const primary = await cluster.primary()
      primary.freezeSenders()
      await systemClock.sleep(standbyBehindMs)
      await killNode(primary)
    },
    recover: returnNodes,
  },
]
