import { z } from 'zod'
import type { JsonObject } from './jsonSchema.ts'
import { anchorOf, markdown } from './markdown.ts'
import { html, type Markup } from './markup.ts'
import { payMount } from './paymentPage.ts'

const schemaShape = z.looseObject({
  type: z.string().optional().catch(undefined),
  description: z.string().optional(),
  enum: z.array(z.json()).optional(),
  default: z.json().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
  maxLength: z.number().optional(),
  required: z.array(z.string()).optional(),
  get properties() {
    return z.record(z.string(), schemaShape).optional()
  },
})
type Schema = z.infer<typeof schemaShape>

const parameterShape = z.object({
  name: z.string(),
  in: z.string(),
  required: z.boolean().default(false),
  description: z.string().optional(),
  schema: schemaShape,
})
const mediaShape = z.object({ schema: z.object({ $ref: z.string() }).optional(), example: z.json().optional() })
const operationShape = z.object({
  operationId: z.string(),
  tags: z.array(z.string()),
  summary: z.string(),
  description: z.string().default(''),
  parameters: z.array(z.union([z.object({ $ref: z.string() }), parameterShape])).default([]),
  requestBody: z.object({ description: z.string(), content: z.record(z.string(), mediaShape) }).optional(),
  responses: z.record(
    z.string(),
    z.looseObject({ content: z.record(z.string(), z.looseObject({ example: z.json().optional() })).optional() }),
  ),
  'x-codeSamples': z.array(z.object({ label: z.string(), source: z.string() })).default([]),
})
const documentShape = z.object({
  info: z.object({ title: z.string(), version: z.string(), summary: z.string(), description: z.string() }),
  tags: z.array(z.object({ name: z.string(), description: z.string() })),
  paths: z.record(z.string(), z.record(z.string(), operationShape)),
  components: z.object({ schemas: z.record(z.string(), z.json()) }),
})
type ApiDocument = z.infer<typeof documentShape>

interface Operation extends z.infer<typeof operationShape> {
  readonly path: string
  readonly method: string
}

const paidTag = 'Paid'
const unmountedTags = new Set([paidTag, 'Free'])

/** The page at `/docs`: the OpenAPI document for people, rendered here, so that it needs neither a script nor another site. */
export function referencePage(openApi: JsonObject, fileOf: (name: string) => string): string {
  const document = documentShape.parse(openApi)
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  )
  const groups = document.tags.map((tag) => ({
    ...tag,
    operations: operations.filter(({ tags }) => tags.includes(tag.name)),
  }))
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>Tollbook API</title>
        <link rel="icon" href="${fileOf('icon.svg')}" />
        <link rel="stylesheet" href="${fileOf('style.css')}" />
        <link rel="stylesheet" href="${fileOf('docs.css')}" />
        <script src="${fileOf('docs.js')}" type="module"></script>
      </head>
      <body>
        <a class="skip" href="#paid">Skip to the operations</a>
        <header>
          <strong>Tollbook</strong> <span>API reference</span>
          <nav aria-label="Pages">
            <a href="./">prices</a> <a href="openapi.json">openapi.json</a> <a href="llms.txt">llms.txt</a>
            <a href="burn">burned</a>
          </nav>
        </header>
        <div class="layout">
          ${contents(document, groups)}
          <main>
            <h1>${document.info.summary}</h1>
            <p class="muted">Version ${document.info.version}</p>
            <section class="prose">${markdown(document.info.description)}</section>
            ${groups.map((group) => groupOf(document, group))}
          </main>
        </div>
      </body>
    </html> `.markup
}

interface Group {
  readonly name: string
  readonly description: string
  readonly operations: readonly Operation[]
}

function contents({ info }: ApiDocument, groups: readonly Group[]): Markup {
  const headings = [...info.description.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading)
  return html`<nav class="contents" aria-label="Contents">
    <details open>
      <summary>Contents</summary>
      <ul>
        ${headings.map((heading) => html`<li><a href="#${anchorOf(heading)}">${heading}</a></li>`)}
      </ul>
      ${groups.map(
        ({ name, operations }) =>
          html`<p><a href="#${anchorOf(name)}">${name}</a></p>
            <ul>
              ${listed(name, operations).map(({ operationId, path }) => html`<li><a href="#${operationId}">${path}</a></li>`)}
            </ul>`,
      )}
    </details>
  </nav>`
}

/** The paths below the mount of a rail are those of the paid operations again. */
function listed(name: string, operations: readonly Operation[]): readonly Operation[] {
  return unmountedTags.has(name) ? operations : []
}

function groupOf(document: ApiDocument, { name, description, operations }: Group): Markup {
  const show = name === paidTag ? paidOperation : plainOperation
  return html`<section aria-labelledby="${anchorOf(name)}">
    <h2 id="${anchorOf(name)}">${name}</h2>
    <div class="prose">${markdown(description)}</div>
    ${operations.map((operation) => show(document, operation))}
  </section>`
}

function paidOperation(document: ApiDocument, operation: Operation): Markup {
  const { operationId, path, method, summary, description } = operation
  const [first, ...rest] = operation['x-codeSamples']
  return html`<article class="panel operation" id="${operationId}">
    <div>
      <h3>${summary}</h3>
      <p class="mono"><span class="method">${method}</span> ${path}</p>
      <div class="prose">${markdown(description)}</div>
      ${inputOf(document, operation)} ${answerOf(operation)}
      <p><a class="button" href="${payMount.slice(1)}${path}">Buy it in the browser</a></p>
    </div>
    <div class="samples">
      ${first === undefined ? html`` : sample(operationId, first, true)}
      ${rest.map((each) => sample(operationId, each, false))}
    </div>
  </article>`
}

function sample(id: string, { label, source }: Operation['x-codeSamples'][number], isOpen: boolean): Markup {
  return html`<details name="samples-${id}" ${isOpen ? html` open` : html``}>
    <summary>${label}</summary>
    <pre tabindex="0"><code>${source}</code></pre>
  </details>`
}

function plainOperation(document: ApiDocument, operation: Operation): Markup {
  const { operationId, path, method, summary, description } = operation
  return html`<article class="plain" id="${operationId}">
    <h3>${summary}</h3>
    <p class="mono"><span class="method">${method}</span> ${path}</p>
    <div class="prose">${description === '' ? html`` : markdown(description)}</div>
    ${inputOf(document, operation)}
  </article>`
}

function inputOf({ components }: ApiDocument, { summary, parameters, requestBody }: Operation): Markup {
  const given = parameters.flatMap((parameter) => ('name' in parameter && parameter.in !== 'path' ? [parameter] : []))
  const reference = requestBody?.content['application/json']?.schema?.$ref
  const name = reference?.slice(reference.lastIndexOf('/') + 1)
  const body = name === undefined ? undefined : schemaShape.parse(components.schemas[name])
  const rows = [
    ...given.map(({ name, required, schema, description }) => row(name, { ...schema, description }, required)),
    ...(body === undefined ? [] : rowsOf(body, '')),
  ]
  if (rows.length === 0) return html``
  const title = requestBody === undefined ? 'Query' : 'JSON body'
  return html`<h4>${title}</h4>
    <div class="scroll" tabindex="0" role="region" aria-label="${title} of ${summary}">
      <table>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>`
}

function rowsOf({ properties = {}, required = [] }: Schema, prefix: string): Markup[] {
  return Object.entries(properties).flatMap(([name, schema]) =>
    schema.properties === undefined
      ? [row(`${prefix}${name}`, schema, required.includes(name))]
      : rowsOf(schema, `${name}.`),
  )
}

function row(name: string, schema: Schema, isRequired: boolean): Markup {
  const { type = 'JSON', enum: values, default: standard, minimum, maximum, description } = schema
  const facts = [
    values === undefined ? description : values.map(String).join(', '),
    minimum === undefined || maximum === undefined ? undefined : `${String(minimum)} to ${String(maximum)}`,
    standard === undefined
      ? undefined
      : `default ${typeof standard === 'string' ? standard : JSON.stringify(standard)}`,
  ]
  return html`<tr>
    <th scope="row"><code>${name}</code><br /><span class="muted">${type}${isRequired ? ', required' : ''}</span></th>
    <td>${facts.filter((fact) => fact !== undefined).join('; ')}</td>
  </tr>`
}

function answerOf({ responses }: Operation): Markup {
  const [content] = Object.values(responses['200']?.content ?? {})
  const errors = Object.keys(responses).filter((status) => status !== '200')
  const shown =
    typeof content?.example === 'string' ? content.example : JSON.stringify(content?.example ?? null, undefined, 2)
  return html`<details class="answer">
      <summary>Answer</summary>
      <pre tabindex="0"><code>${shown}</code></pre>
    </details>
    <p class="muted">Errors: ${errors.join(', ')}. See <a href="#errors">Errors</a>.</p>`
}
