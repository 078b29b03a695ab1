import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseAllDocuments } from 'yaml'
import { z } from 'zod'
import { describeError } from '@tollbook/core/fault'
import { findPodProblems, type PodTemplate } from './chart/podProblems.ts'
import { proofCommand } from './proofCommand.ts'
import { concludeProof, couldNotRun, say } from './verdict.ts'

/*
 * The chart of deploy/helm is linted and rendered by Helm itself; each object is validated by the schemas of
 * Kubernetes, and each pod by our own rules. No cluster is needed, and none is shown to accept it.
 */

const command = proofCommand(
  'chart',
  'Lints, renders and validates the Helm chart. docs/testing.md says where to get the tools.',
)
  .option('--helm <file>', 'the program Helm', 'helm')
  .option('--schemas <folder>', 'a folder whose node_modules has kubernetes-models', '.')
const { helm, schemas } = command.parse().opts<{ helm: string; schemas: string }>()
const chart = fileURLToPath(new URL('../../deploy/helm/tollbook', import.meta.url))

const everything = [
  'signer.enabled=true,burn.enabled=true,payout.enabled=true,drill.enabled=true,serviceMonitor.enabled=true',
  'ingress.enabled=true,ingress.host=api.example.com,ingress.className=nginx,ingress.tlsSecretName=tls',
  'publishing.anchor.enabled=true,publishing.witness.enabled=true,publishing.witness.url=https://witness.example.com/',
  'publishing.witness.key=witness.example.com/w1+01234567+AAAA,publishing.receiptKeys=\\{"keys":[]\\}',
  'finance.enabled=true,finance.issuer=https://issuer.example.com,finance.jwksUrl=https://issuer.example.com/jwks.json',
  'networkPolicy.finance[0].podSelector.matchLabels.app=office',
  'settings.ARTIFACT_S3_BUCKET=bucket,networkPolicy.egressCidrs={10.9.0.0/16},drill.storageClassName=fast,drill.repositoryClaim=backups',
  `image.digest=sha256:${'0'.repeat(64)},seccompProfile.type=Localhost,seccompProfile.localhostProfile=tollbook.json`,
]
const variants: Readonly<Record<string, readonly string[]>> = { defaults: [], everything }
/** Values that their schema must refuse. */
const refused = [
  'replicas=0',
  'settings.DATABASE_URL=postgres://x',
  'settings.AI_API_KEY=x',
  'unknown=1',
  'burn.schedule=daily',
  'signer.replicas=0',
  'finance.enabled=true',
  'publishing.anchor.enabled=true',
  'publishing.receiptKeys=\\{"keys":[\\{"d":"x"\\}]\\}',
]

const modelsFolder = resolve(schemas, 'node_modules/kubernetes-models')
const object = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string() }),
  spec: z.looseObject({}).optional(),
})
type KubernetesObject = z.infer<typeof object>

async function prove(): Promise<void> {
  const wrong: string[] = []
  for (const [name, values] of Object.entries(variants)) {
    const words = values.flatMap((value) => ['--set', value])
    const lint = spawnSync(helm, ['lint', '--strict', chart, ...words], { encoding: 'utf8' })
    if (lint.status !== 0) wrong.push(`${name}: ${lint.stdout}${lint.stderr}`)
    const rendered = execFileSync(helm, ['template', 'shop', chart, ...words], { encoding: 'utf8' })
    const objects = parseAllDocuments(rendered).flatMap((document) => {
      const value: unknown = document.toJS()
      return value === null ? [] : [object.parse(value)]
    })
    for (const one of objects)
      wrong.push(...[...(await schemaProblems(one)), ...podProblems(one)].map((problem) => `${name}: ${problem}`))
    say(`${name}: ${objects.length} objects, ${objects.map(({ kind }) => kind).join(' ')}`)
  }
  // The schemas have power: a number that is a text is found.
  const metadata = { name: 'wrong' }
  const found = await schemaProblems({
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata,
    spec: { replicas: 'two' },
  })
  if (found.length === 0) wrong.push('the schemas accept a wrong object')
  for (const value of refused)
    if (spawnSync(helm, ['template', 'shop', chart, '--set', value]).status === 0)
      wrong.push(`${value} was not refused`)
  concludeProof({ holds: wrong.length === 0, lines: [`${refused.length} wrong values refused`, ...wrong] })
}

/** A kind of another project, such as ServiceMonitor, has no schema here. */
async function schemaProblems({ apiVersion, kind, ...rest }: KubernetesObject): Promise<readonly string[]> {
  if (apiVersion.startsWith('monitoring.coreos.com')) return []
  const loaded: unknown = await import(pathToFileURL(join(modelsFolder, apiVersion, 'index.js')).href)
  const Model = models.parse(loaded)[kind]
  if (Model === undefined) return [`${apiVersion} ${kind} is not a kind of Kubernetes`]
  try {
    model.parse(Reflect.construct(Model, [{ apiVersion, kind, ...rest }])).validate()
    return []
  } catch (error) {
    return [`${kind} ${rest.metadata.name}: ${describeError(error)}`]
  }
}

interface Model {
  validate(): void
}
const model = z.custom<Model>((value) => value instanceof Object && 'validate' in value)
const models = z.record(
  z.string(),
  z.custom<new (value: object) => unknown>((value) => typeof value === 'function'),
)

function podProblems({ kind, metadata, spec }: KubernetesObject): readonly string[] {
  const template = templateOf(kind, spec)
  return template === undefined ? [] : findPodProblems(template).map((one) => `${kind} ${metadata.name}: ${one}`)
}

const owner = z.looseObject({ template: z.custom<PodTemplate>() })
const cron = z.looseObject({ jobTemplate: z.looseObject({ spec: owner }) })

function templateOf(kind: string, spec: unknown): PodTemplate | undefined {
  if (['StatefulSet', 'Deployment', 'Job'].includes(kind)) return owner.parse(spec).template
  return kind === 'CronJob' ? cron.parse(spec).jobTemplate.spec.template : undefined
}

if (spawnSync(helm, ['version']).status !== 0) couldNotRun(`${helm} does not run: name Helm with --helm`)
else if (!existsSync(modelsFolder)) couldNotRun(`${schemas} has no kubernetes-models: name its folder with --schemas`)
else await prove()
