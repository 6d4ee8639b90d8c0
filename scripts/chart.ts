// Generates the parts of deploy/chart that follow from other files: the names and types of `settings` in values.schema.json,
// the icon in Chart.yaml, and, if helm-docs is on the PATH, README.md. With --check, exits with 1 if the files are outdated.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { format } from 'prettier'
import { z } from 'zod'
import { environmentSchema, environmentVariableDescriptions } from '../src/jobs/settings.ts'
import { updateGeneratedFiles } from './workspaces.ts'

interface EnvironmentVariableSchema {
  readonly type?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly enum?: readonly string[]
  readonly pattern?: string
}

/** Where the values come from instead. */
const chartManagedVariables = {
  fixed: ['PORT', 'HOST', 'METRICS_PORT', 'SETUP', 'DATA_DIR'],
  fromOtherValues: ['STOP_SECONDS', 'PUBLIC_URL', 'PULL_SECRETS', 'PUBLISH_TARGETS', 'CLUSTER_TARGETS'],
  fromSecrets: [
    'APP_ID',
    'PRIVATE_KEY',
    'PRIVATE_KEY_PATH',
    'WEBHOOK_SECRET',
    'WEBHOOK_SECRET_PREVIOUS',
    'CLIENT_ID',
    'CLIENT_SECRET',
    'DATABASE_URL',
    'PUBLISH_CREDENTIALS',
    'PUBLISH_KEY_PASSWORD',
  ],
}
const variablesWithoutChartValue = new Set(Object.values(chartManagedVariables).flat())

/** docs/how-to/networks.md describes these. NODE_EXTRA_CA_CERTS is `certificates`. */
const proxyVariables = ['HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'REGISTRY_PROXY']

const projectRoot = join(import.meta.dirname, '..')
const chartDirectory = join(projectRoot, 'deploy', 'chart')
const readChartFile = (name: string) => readFileSync(join(chartDirectory, name), 'utf8')

/** Accepts numbers and booleans as YAML writes them, and as the strings that `--set-string` produces. */
function toValueSchema({
  type,
  minimum,
  maximum,
  enum: choices,
  pattern,
}: EnvironmentVariableSchema): object {
  if (choices) return { enum: choices }
  if (type === 'integer')
    return {
      type: ['integer', 'string'],
      pattern: '^[0-9]+$',
      ...(minimum !== undefined && { minimum }),
      ...(maximum !== Number.MAX_SAFE_INTEGER && { maximum }),
    }
  return { type: 'string', ...(pattern !== undefined && { pattern }) }
}

function renderSettingsSchema(): object {
  const { properties } = z.toJSONSchema(environmentSchema, { io: 'input' }) as {
    readonly properties: Readonly<Record<string, EnvironmentVariableSchema>>
  }
  const descriptions = new Map(
    Object.entries(environmentVariableDescriptions).map(([name, text]) => [
      name,
      (typeof text === 'string' ? text : text[0]).replaceAll('`', ''),
    ]),
  )
  const names = [...descriptions.keys(), ...proxyVariables].filter(
    (name) => !variablesWithoutChartValue.has(name),
  )
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(
      names.map((name) => [
        name,
        { description: descriptions.get(name), ...toValueSchema(properties[name] ?? {}) },
      ]),
    ),
    patternProperties: { '^OTEL_[A-Z0-9_]+$': { type: ['string', 'integer', 'boolean'] } },
  }
}

async function renderValuesSchema(): Promise<string> {
  const schema = JSON.parse(readChartFile('values.schema.json')) as { properties: Record<string, unknown> }
  schema.properties['settings'] = renderSettingsSchema()
  return format(JSON.stringify(schema), { parser: 'json', printWidth: 110 })
}

/** As a data URL, because the chart has no site. */
function renderChartMetadata(): string {
  const icon = Buffer.from(readChartFile('icon.svg').trim()).toString('base64')
  return readChartFile('Chart.yaml').replace(/^icon: .*$/m, `icon: data:image/svg+xml;base64,${icon}`)
}

const isCheckOnly = process.argv.includes('--check')
const generatedChartFiles = new Map([
  ['values.schema.json', await renderValuesSchema()],
  ['Chart.yaml', renderChartMetadata()],
])
const helmDocsProcess = spawnSync('helm-docs', ['--chart-search-root', chartDirectory, '--dry-run'], {
  encoding: 'utf8',
})
if (helmDocsProcess.error)
  console.log('README.md is not included because helm-docs is not on the PATH (see .ci/chart)')
else if (helmDocsProcess.status !== 0) throw new Error(helmDocsProcess.stderr)
else generatedChartFiles.set('README.md', helmDocsProcess.stdout)

const outdatedChartFiles = updateGeneratedFiles(chartDirectory, generatedChartFiles, isCheckOnly)
if (isCheckOnly && outdatedChartFiles.length > 0) {
  console.error(`run \`npm run chart\` to update ${outdatedChartFiles.join(', ')}`)
  process.exitCode = 1
}
