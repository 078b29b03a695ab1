import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { z } from 'zod'

/** docker-compose.yml as far as we use its language; a key that is not here is a slip of the pen until it is. */
export type Compose = z.infer<typeof compose>

export const root = new URL('../../', import.meta.url)

export const readText = (path: string): string => readFileSync(new URL(path, root), 'utf8')
export const readYaml = (path: string): unknown => parse(readText(path), { merge: true })
export const readCompose = (): Compose => compose.parse(readYaml('docker-compose.yml'))

const healthcheck = z.union([
  z.strictObject({ disable: z.literal(true) }),
  z.strictObject({
    test: z.array(z.string()).min(2),
    interval: z.string(),
    timeout: z.string(),
    retries: z.int(),
    start_period: z.string().exactOptional(),
  }),
])

const service = z.strictObject({
  image: z.string(),
  healthcheck,
  build: z
    .union([
      z.literal('.'),
      z.strictObject({ context: z.literal('.'), target: z.enum(['localnet', 'operations', 'postgres']) }),
    ])
    .exactOptional(),
  command: z.array(z.string()).exactOptional(),
  entrypoint: z.array(z.string()).exactOptional(),
  environment: z.record(z.string(), z.string()).exactOptional(),
  secrets: z.array(z.string()).exactOptional(),
  env_file: z.string().exactOptional(),
  profiles: z.array(z.string()).exactOptional(),
  restart: z.enum(['no', 'unless-stopped']),
  user: z.literal('postgres').exactOptional(),
  init: z.boolean().exactOptional(),
  read_only: z.literal(true),
  tmpfs: z.array(z.string()).exactOptional(),
  shm_size: z.string().exactOptional(),
  mem_limit: z.string().exactOptional(),
  pids_limit: z.int().exactOptional(),
  cap_drop: z.array(z.literal('ALL')).exactOptional(),
  security_opt: z.array(z.string()),
  stop_grace_period: z.string().exactOptional(),
  networks: z.array(z.string()).exactOptional(),
  network_mode: z.string().exactOptional(),
  ports: z.array(z.string()).exactOptional(),
  volumes: z.array(z.string()).exactOptional(),
  depends_on: z
    .record(z.string(), z.strictObject({ condition: z.enum(['service_healthy', 'service_completed_successfully']) }))
    .exactOptional(),
  logging: z.unknown().exactOptional(),
})

const compose = z.object({
  services: z.record(z.string(), service),
  networks: z.record(z.string(), z.strictObject({ internal: z.boolean().exactOptional() })),
  secrets: z.record(z.string(), z.strictObject({ file: z.string().startsWith('deploy/secrets/') })),
  volumes: z.record(z.string(), z.strictObject({})),
})
