// Generates docs/reference from the code: each template in scripts/reference/templates is a page whose `{{name arguments}}` a
// generator below replaces. Also writes docs/catalog-bot.schema.json. `node scripts/reference-pages.ts [--check]`: with --check,
// writes nothing, and exits with 1 if a file is out of date.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, resolveConfig } from 'prettier'
import { parse, parseDocument, isMap, isScalar, isSeq, type YAMLMap } from 'yaml'
import { z } from 'zod'
import { configPath } from '../src/config/config-path.ts'
import { createMetrics } from '../src/jobs/metrics.ts'
import { environmentSchema, environmentVariableDescriptions } from '../src/jobs/settings.ts'
import { maxCommandsPerHour } from '../src/policy/commands.ts'
import {
  allowedUsersDescriptions,
  maxScannedCommentLines,
  slashCommands,
} from '../src/pull-request/command.ts'
import { parsePageUrl, type StatusPageRequest } from '../src/report/urls.ts'
import { webhookDeliveryPath } from '../src/server/deliveries.ts'
import { createStoreMetrics } from '../src/server/store-metrics.ts'
import { renderCommands, renderSharedOptions } from './reference/command-line.ts'
import {
  configJsonSchema,
  renderConfiguration,
  schemaUrl,
  type JsonSchema,
} from './reference/configuration.ts'
import { renderTable, formatInlineCode } from './reference/markdown.ts'
import { updateGeneratedFiles } from './workspaces.ts'

const projectRoot = join(import.meta.dirname, '..')
const prettierOptions = await resolveConfig(import.meta.filename)
const templateFolder = 'scripts/reference/templates'
const readProjectFile = (path: string) => readFileSync(join(projectRoot, path), 'utf8')

// --- Environment variables ---

const environmentJsonSchema = z.toJSONSchema(environmentSchema, { io: 'input' }) as JsonSchema

function renderEnvironmentVariables(names: readonly string[]): string {
  const described: Readonly<Record<string, string | readonly [string, string]>> =
    environmentVariableDescriptions
  const defaults: Readonly<Record<string, string | number | readonly number[] | undefined>> =
    environmentSchema.parse({})
  return renderTable(
    ['variable', 'default', 'meaning'],
    names.map((name) => {
      const text = described[name]
      if (text === undefined) throw new Error(`src/jobs/settings.ts does not describe ${name}`)
      const value = defaults[name] === '' ? undefined : defaults[name]
      const { enum: choices } = environmentJsonSchema.properties?.[name] ?? {}
      const [description, defaultText = value === undefined ? 'none' : formatInlineCode(value.toString())] =
        typeof text === 'string' ? [text] : text
      const isListed =
        choices === undefined || choices.some((one) => description.includes(formatInlineCode(String(one))))
      const choiceText = isListed
        ? ''
        : ` (${choices.map((one) => formatInlineCode(String(one))).join(', ')})`
      return [formatInlineCode(name), defaultText, `${description}${choiceText}`]
    }),
  )
}

/** Set by the operating system, or only for tests. */
const undocumentedEnvironmentVariables = new Set([
  'HOME',
  'PATH',
  'TERM',
  'TZ',
  'LD_LIBRARY_PATH',
  'CATALOG_BOT_CRASH_AT',
])

/** Variables that a source file reads but the page does not mention. */
function findMissingEnvironmentVariables(page: string): readonly string[] {
  const sources = readdirSync(join(projectRoot, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => readProjectFile(join('src', path)))
  const read = sources.flatMap((text) => [
    ...[...text.matchAll(/(?:nvironment|\benv)(?:\.|\[')([A-Z][A-Z0-9_]+)\b/g)].map(([, name = '']) => name),
    ...[...text.matchAll(/\{([^{}]*)\} = (?:process\.env|environment)\b/g)].flatMap(([, names = '']) =>
      [...names.matchAll(/\b([A-Z][A-Z0-9_]+)\b/g)].map(([, name = '']) => name),
    ),
  ])
  const all = new Set([...read, ...Object.keys(environmentVariableDescriptions)])
  return [...all].filter(
    (name) => !undocumentedEnvironmentVariables.has(name) && !page.includes(formatInlineCode(name)),
  )
}

// --- The App, its endpoints, and its metrics ---

/** The values of a list or a map in app.yml with the comments before them. */
function readCommentedEntries(
  key: string,
): readonly (readonly [name: string, value: string, reason: string])[] {
  const at = parseDocument(readProjectFile('app.yml')).get(key)
  const toReason = (text?: string | null) => (text ?? '').trim().replace(/\n */g, ' ')
  // The comment before the first entry belongs to the whole.
  if (isMap(at))
    return (at as YAMLMap<{ value: string; commentBefore?: string }, { value: string }>).items.map(
      ({ key: name, value }, index) => [
        name.value,
        value?.value ?? '',
        toReason(name.commentBefore ?? (index === 0 ? at.commentBefore : '')),
      ],
    )
  if (!isSeq(at)) throw new Error(`app.yml lacks ${key}`)
  return at.items.map((item, index) =>
    isScalar(item)
      ? [String(item.value), '', toReason(item.commentBefore ?? (index === 0 ? at.commentBefore : ''))]
      : ['', '', ''],
  )
}

const statusPages: Readonly<Record<StatusPageRequest['page'], readonly [path: string, content: string]>> = {
  home: ['/', 'repositories that you can read, with their open pull requests, freezes, and merges'],
  repository: [
    '/r/OWNER/NAME',
    'open pull requests, merges in progress, and freezes of a repository; filter with `?state=blocked&author=LOGIN&package=NAME`',
  ],
  pull: ['/r/OWNER/NAME/pull/1', 'history of a pull request'],
  catalogs: ['/r/OWNER/NAME/catalog', 'catalogs on each branch that catalog-bot handles'],
  catalog: ['/r/OWNER/NAME/catalog/CATALOG', 'packages of a catalog'],
  package: ['/r/OWNER/NAME/catalog/CATALOG/PACKAGE', 'versions, channels, owners, upgrade graph, and images of a package'], // prettier-ignore
  compare: [
    '/r/OWNER/NAME/compare',
    'differences between the packages of two catalogs (`?from=CATALOG&to=CATALOG`)',
  ],
  operations: [
    '/r/OWNER/NAME/operations',
    'current problems, merges per day, waiting times, GitHub requests, and published images',
  ],
  'repository-overview': ['/r/OWNER/NAME/overview', 'missing images, stranded versions, and weekly findings of a repository'], // prettier-ignore
  overview: ['/overview', 'missing images and stranded versions of every repository that you can read'],
  'repository-merged': [
    '/r/OWNER/NAME/merged',
    'merged pull requests of a repository; append `.atom` for a feed',
  ],
  merged: [
    '/merged',
    'merged pull requests of every repository that you can read; append `.atom` for a feed',
  ],
  rules: ['/rules', 'all rules'],
  rule: ['/rules/ID', 'page of a rule'],
  badge: ['/badge/OWNER/NAME.svg', 'README badge, only for repositories that everyone can read'],
  'sign-in': ['/sign-in', 'redirects to GitHub for sign-in'],
  'signed-in': ['/sign-in/back', "callback URL of the App's OAuth client"],
  'sign-out': ['/sign-out', '`POST`: signs out the user and revokes the token'],
  resume: ['/r/OWNER/NAME/resume', '`POST`: unfreezes merging (only for signed-in maintainers)'],
  events: ['/r/OWNER/NAME/events', 'server-sent events that tell open pages to update'],
  style: ['/pages.css', 'stylesheet'],
  script: ['/pages.js', 'script that updates open pages'],
}

function renderStatusPages(): string {
  for (const [page, [path]] of Object.entries(statusPages))
    if (parsePageUrl(path.replace('ID', 'id'))?.pageRequest.page !== page)
      throw new Error(`${path} is not the page ${page}`)
  const rows = Object.values(statusPages).map(([path, content]) => [
    formatInlineCode(path.replace('pull/1', 'pull/NUMBER')),
    content,
  ])
  return renderTable(['path', 'content'], rows)
}

/** The paths of the other requests that the server answers, from its source. */
function checkDocumentedEndpoints(page: string): void {
  for (const [, path = ''] of readProjectFile('src/server/serve.ts').matchAll(/case '(\/[a-z]*)'/g))
    if (!page.includes(formatInlineCode(path))) throw new Error(`endpoints.md lacks ${path}`)
}

async function renderMetrics(): Promise<string> {
  const { registry } = createMetrics()
  // Registers its metrics at once, and reads the store only on a scrape.
  createStoreMetrics(registry, undefined as never, undefined as never)
  const alerts = (
    parse(readProjectFile('deploy/monitoring/alerts.yaml')) as {
      readonly groups: readonly {
        readonly rules: readonly { readonly alert: string; readonly expr: string }[]
      }[]
    }
  ).groups.flatMap(({ rules }) => rules)
  const own = registry.getMetricsAsArray().filter(({ name }) => name.startsWith('catalog_bot_'))
  return renderTable(
    ['metric', 'type', 'labels', 'meaning', 'alerts'],
    own
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map((metric) => [
        formatInlineCode(metric.name),
        metric.constructor.name.toLowerCase(),
        (metric as unknown as { labelNames: readonly string[] }).labelNames.map(formatInlineCode).join(', '),
        metric.help,
        alerts
          .filter(({ expr }) => expr.includes(metric.name))
          .map(({ alert }) => formatInlineCode(alert))
          .join(', '),
      ]),
  )
}

// --- Packages ---

/** Each exported function of the public API with its comment. */
function renderApiFunctions(): string {
  const exported = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport function (\w+)\(([\s\S]*?)\n?\): ([^{]+) \{/g
  const rows = [...readProjectFile('src/index.ts').matchAll(exported)].map(
    ([, comment = '', name = '', parameters = '', result = '']) => [
      formatInlineCode(`${name}(${[...parameters.matchAll(/(?:^|, |\n)\s*(\{[^}]*\}|\w+)\??: ([\w[\] ]+)/g)].map(([, of = '', type = '']) => (of.startsWith('{') ? type.trim() : of)).join(', ')})`), // prettier-ignore
      formatInlineCode(result),
      comment.replace(/\s*\n?\s*\*\s?/g, ' ').trim(),
    ],
  )
  return renderTable(['function', 'returns', 'meaning'], rows)
}

function renderPackages(): string {
  return readdirSync(join(projectRoot, 'packages'))
    .toSorted()
    .map((folder) => {
      const { name, description, exports } = JSON.parse(
        readProjectFile(`packages/${folder}/package.json`),
      ) as {
        readonly name: string
        readonly description: string
        readonly exports: Readonly<Record<string, string>>
      }
      const report = readProjectFile(`etc/${folder}.api.md`)
      const rows = Object.entries(exports).map(([subpath, file]) => [
        formatInlineCode(subpath.slice(2)),
        readHeaderSentence(`packages/${folder}/${file.slice(2)}`),
        listExports(report, `${name}/${subpath.slice(2)}`)
          .map(formatInlineCode)
          .join(', '),
      ])
      return `## ${formatInlineCode(name)}\n\n${description} ([README](../../packages/${folder}/README.md)).\n\n${renderTable(['module', 'content', 'exports'], rows)}`
    })
    .join('\n\n')
}

/** The first sentence of the comment at the top of a file. */
function readHeaderSentence(path: string): string {
  const comment = /^(?:\/\/ .*\n)+/.exec(readProjectFile(path))?.[0] ?? ''
  return /^(.*?)(?:\. |\.$|$)/.exec(comment.replaceAll('// ', '').trim().replaceAll('\n', ' '))?.[1] ?? ''
}

/** The values that a module exports, or its types if it exports nothing else. */
function listExports(report: string, module: string): readonly string[] {
  const section = report.split(`\n## ${module}\n`)[1]?.split('\n## ')[0] ?? ''
  const list = (kinds: string) =>
    [...section.matchAll(new RegExp(`^export (?:declare )?(?:${kinds}) (\\w+)`, 'gm'))].map(
      ([, name = '']) => name,
    )
  const values = list('const|function|class|abstract class')
  return [...new Set(values.length > 0 ? values : list('type|interface'))]
}

// --- Pages ---

const placeholderGenerators: Readonly<
  Record<string, (words: readonly string[]) => string | Promise<string>>
> = {
  commands: renderCommands,
  sharedOptions: renderSharedOptions,
  configuration: renderConfiguration,
  configPath: () => configPath,
  schemaUrl: () => schemaUrl,
  variables: renderEnvironmentVariables,
  commentCommands: () =>
    renderTable(
      ['command', 'who can use it', 'effect'],
      Object.values(slashCommands).map(([usage, users, effect]) => [
        formatInlineCode(usage),
        allowedUsersDescriptions[users],
        effect,
      ]),
    ),
  nodeVersion: () =>
    (JSON.parse(readProjectFile('package.json')) as { engines: { node: string } }).engines.node.replace(
      '>=',
      '',
    ),
  maxLines: () => String(maxScannedCommentLines),
  maxCommandsPerHour: () => String(maxCommandsPerHour),
  permissions: () =>
    renderTable(
      ['permission', 'access', 'why'],
      readCommentedEntries('default_permissions').map(([name, access, why]) => [
        formatInlineCode(name),
        access,
        why,
      ]),
    ),
  events: () =>
    renderTable(
      ['event', 'why'],
      readCommentedEntries('default_events').map(([name, , why]) => [formatInlineCode(name), why]),
    ),
  statusPages: renderStatusPages,
  webhookPath: () => webhookDeliveryPath,
  metrics: renderMetrics,
  apiFunctions: renderApiFunctions,
  packages: renderPackages,
}

async function renderPage(template: string): Promise<string> {
  let page = readProjectFile(`${templateFolder}/${template}`)
  for (const [placeholder, name = '', words = ''] of page.matchAll(/\{\{(\w+)([^{}]*)\}\}/g)) {
    const generate = placeholderGenerators[name]
    if (generate === undefined) throw new Error(`${template}: unknown placeholder ${placeholder}`)
    const text = await generate(words.split(/\s+/).filter(Boolean))
    page = page.replace(placeholder, () => text)
  }
  if (template === 'endpoints.md') checkDocumentedEndpoints(page)
  const missing = template === 'environment.md' ? findMissingEnvironmentVariables(page) : []
  if (missing.length > 0) throw new Error(`${templateFolder}/environment.md lacks ${missing.join(', ')}`)
  const text = `<!-- Generated by scripts/reference-pages.ts; do not edit. -->\n\n${page}`
  return format(text, { ...prettierOptions, parser: 'markdown' })
}

async function renderReferencePages(): Promise<ReadonlyMap<string, string>> {
  const schema = JSON.stringify({ $id: schemaUrl, ...configJsonSchema })
  const files = new Map([
    // Only editors read the schema, not people.
    ['docs/catalog-bot.schema.json', await format(schema, { printWidth: 4000, parser: 'json' })],
  ])
  for (const template of readdirSync(join(projectRoot, templateFolder)))
    files.set(`docs/reference/${template}`, await renderPage(template))
  return files
}

if (import.meta.main) {
  const isCheckOnly = process.argv.includes('--check')
  for (const path of updateGeneratedFiles(projectRoot, await renderReferencePages(), isCheckOnly)) {
    process.stdout.write(`${path}: ${isCheckOnly ? 'is out of date; run npm run pages' : 'updated'}\n`)
    if (isCheckOnly) process.exitCode = 1
  }
}
