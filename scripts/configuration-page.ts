// Writes docs/configuration.md and docs/catalog-bot.schema.json from the schema in src/config/config.ts, so that the
// page, editors and the bot cannot disagree. With --check: exit 1 when they are not what they would be.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { format } from 'prettier'
import { z } from 'zod'
import { configPath } from '../src/config/config-path.ts'
import { configSchema } from '../src/config/config.ts'

interface JsonSchema {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly additionalProperties?: JsonSchema | boolean
}

const projectRoot = join(import.meta.dirname, '..')
/** Where the site has it: for editors everywhere, and it stays there. */
const schemaUrl = 'https://catalog-bot.github.io/catalog-bot/catalog-bot.schema.json'

const configJsonSchema = z.toJSONSchema(configSchema, { io: 'input' }) as JsonSchema

function* renderRows(at: JsonSchema, path: string): Generator<string> {
  for (const [name, value] of Object.entries(at.properties ?? {})) {
    const key = path === '' ? name : `${path}.${name}`
    yield `| \`${key}\` | ${formatType(value)} | ${formatDefault(value)} | ${value.description ?? ''} |`
    // The table of permissions has a page of its own, with a test behind each line.
    if (key === 'permissions') continue
    yield* renderRows(value, key)
    if (value.items?.properties) yield* renderRows(value.items, `${key}[]`)
    if (typeof value.additionalProperties === 'object')
      for (const branch of value.additionalProperties.anyOf ?? [value.additionalProperties])
        yield* renderRows(branch, `${key}.<name>`)
  }
}

function formatType(value: JsonSchema): string {
  if (value.anyOf) return value.anyOf.map(formatType).join(' or ')
  if (value.enum) return value.enum.map((choice) => `\`${String(choice)}\``).join(', ')
  if (value.type === 'array') return `list of ${value.items ? formatType(value.items) : 'anything'}`
  if (value.type === 'object') return value.properties ? 'section' : 'map'
  return value.type ?? 'anything'
}

function formatDefault(value: JsonSchema): string {
  if (value.type === 'object' || value.default === undefined) return ''
  return `\`${JSON.stringify(value.default)}\``
}

const configurationPage = `<!-- Made by scripts/configuration-page.ts from src/config/config.ts: edit that. -->

# Configuration

A catalog repository works with no configuration. What it wants otherwise stands in \`${configPath}\`, read from the **tip
of the base branch** only: nothing that a pull request contains can change the rules for itself. Unknown keys, wrong types,
duplicate keys, aliases and unreadable YAML close the gate for every pull request, and the bot says where and why.

Who may do what is a table under \`permissions\`, explained line by line in [policy.md](policy.md).

For editors: \`# yaml-language-server: $schema=${schemaUrl}\` ([schema](catalog-bot.schema.json)).

| key | type | default | meaning |
|---|---|---|---|
${[...renderRows(configJsonSchema, '')].join('\n')}

## Example

\`\`\`yaml
owners:
  maintainers: [my-organization/catalog-maintainers]
rules:
  image-by-tag: error
images:
  registries: [quay.io/my-organization]
rebuild:
  event: catalog-changed
\`\`\`

## Rebuilds

With \`rebuild.event\` a push that changes a catalog sends a \`repository_dispatch\` of that type, with \`branch\`, \`commit\`
and \`catalogs\` in its payload; the App's permissions suffice. With \`rebuild.workflow\` the workflow file is dispatched with
the inputs \`commit\` and \`catalogs\`; for that the App needs the permission to write Actions, which \`app.yml\` does not ask
for. With \`rebuild.webhook\` a signed request is sent. The outcome is shown on the commit as the check
\`catalog-bot / rebuild\`. [publishing.md](publishing.md) tells of webhooks, and of images that the bot publishes itself.
`

const outputFiles = {
  'docs/configuration.md': await format(configurationPage, { parser: 'markdown', printWidth: 110 }),
  'docs/catalog-bot.schema.json': await format(JSON.stringify({ $id: schemaUrl, ...configJsonSchema }), {
    parser: 'json',
    printWidth: 110,
  }),
}
const isCheck = process.argv.includes('--check')
for (const [file, text] of Object.entries(outputFiles)) {
  const path = join(projectRoot, file)
  let present = ''
  try {
    present = readFileSync(path, 'utf8')
  } catch {
    // Not there yet: it differs.
  }
  if (present === text) continue
  if (isCheck) {
    process.stdout.write(`${file} is not up to date: npm run pages\n`)
    process.exitCode = 1
  } else writeFileSync(path, text)
}
