import { z } from 'zod'
import { environmentNames } from '../../../src/config.ts'

const container = z.looseObject({
  name: z.string(),
  image: z.string().regex(/:|@sha256:/),
  env: z.array(z.strictObject({ name: z.string(), value: z.string() })).default([]),
  resources: z.looseObject({ limits: z.looseObject({ memory: z.string() }), requests: z.looseObject({}) }),
  securityContext: z.looseObject({
    allowPrivilegeEscalation: z.literal(false),
    readOnlyRootFilesystem: z.literal(true),
    capabilities: z.looseObject({ drop: z.tuple([z.literal('ALL')]) }),
  }),
  volumeMounts: z.array(z.looseObject({ name: z.string() })),
  livenessProbe: z.unknown().optional(),
  readinessProbe: z.unknown().optional(),
  startupProbe: z.unknown().optional(),
})

const template = z.looseObject({
  spec: z.looseObject({
    automountServiceAccountToken: z.literal(false),
    securityContext: z.looseObject({
      runAsNonRoot: z.literal(true),
      runAsUser: z.int().positive(),
      seccompProfile: z.looseObject({ type: z.enum(['RuntimeDefault', 'Localhost']) }),
    }),
    containers: z.array(container).min(1),
    initContainers: z.array(container).default([]),
    volumes: z.array(z.looseObject({ name: z.string() })),
  }),
})

export type PodTemplate = z.input<typeof template>

const ownVolumes = ['checkpoint']

/** Rules of ours that the schemas of Kubernetes do not have. */
export function findPodProblems(given: PodTemplate): readonly string[] {
  const read = template.safeParse(given)
  if (!read.success) return read.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`)
  const { containers, initContainers, volumes } = read.data.spec
  const all = [...initContainers, ...containers]
  const mounted = new Set([...volumes.map(({ name }) => name), ...ownVolumes])
  return [
    ...all.flatMap(({ env }) => env.flatMap(variableProblems)),
    ...all.flatMap(({ name, volumeMounts }) =>
      volumeMounts
        .filter((mount) => !mounted.has(mount.name))
        .map((mount) => `${name} mounts ${mount.name}, which is not a volume`),
    ),
    ...containers
      .filter(({ name }) => name === 'service' || name === 'finance')
      .filter(({ livenessProbe, readinessProbe, startupProbe }) =>
        [livenessProbe, readinessProbe, startupProbe].includes(undefined),
      )
      .map(({ name }) => `${name} lacks a probe`),
  ]
}

function variableProblems({ name, value }: { readonly name: string; readonly value: string }): readonly string[] {
  const setting = name.replace(/_FILE$/, '')
  const isFile = name.endsWith('_FILE') && !environmentNames.includes(name)
  if (!environmentNames.includes(isFile ? setting : name)) return [`nothing reads the variable ${name}`]
  // SIGNER_TLS_KEY is the path of a mounted file.
  const isSecret = /DATABASE_URL$|_KEY$/.test(name) && !value.startsWith('/run/secrets/')
  if (isSecret) return [`${name} is a secret in the environment`]
  return isFile && !value.startsWith('/run/secrets/') ? [`${name} is not below /run/secrets`] : []
}
