// The reference of the configuration, from the schema that editors use, too.
import { z } from 'zod'
import { readPackageMetadata } from '../../src/adapters/package-metadata.ts'
import { configSchema } from '../../src/config/config.ts'
import { formatInlineCode, wrapLines } from './markdown.ts'

export interface JsonSchema {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly additionalProperties?: JsonSchema | boolean
}

export const configJsonSchema = z.toJSONSchema(configSchema, { io: 'input' }) as JsonSchema
/** The URL of the schema, for editors: on the site of a release, or the file in a checkout. */
export const schemaUrl = `${readPackageMetadata().distribution?.site ?? ''}catalog-bot.schema.json`

/** That page has the table of all kinds of change, which a test compares with the schema. */
const permissionsSectionText =
  'The keys are `permissions.<role>.<kind of change>`. For roles, kinds of change, values, and defaults, see [Owners](../how-to/owners.md).'

/** A section for each top-level key, from the schema. */
export function renderConfiguration(): string {
  return Object.entries(configJsonSchema.properties ?? {})
    .map(([key, value]) => {
      const items = [...renderNestedConfigKeys(value, key)]
      return [
        `## ${formatInlineCode(key)}`,
        wrapLines(
          value.properties || value.type === 'object'
            ? (value.description ?? '')
            : `${value.description ?? ''} Type: ${formatTypeAndDefault(value)}.`,
        ),
        key === 'permissions' ? wrapLines(permissionsSectionText) : items.join('\n'),
      ]
        .filter((part) => part !== '')
        .join('\n\n')
    })
    .join('\n\n')
}

function* renderNestedConfigKeys(at: JsonSchema, path: string): Generator<string> {
  for (const [name, value] of Object.entries(at.properties ?? {}))
    yield* [
      wrapLines(`- \`${path}.${name}\` (${formatTypeAndDefault(value)}): ${value.description ?? ''}`, '  '),
      ...renderNestedConfigKeys(value, `${path}.${name}`),
    ]
  if (at.items?.properties) yield* renderNestedConfigKeys(at.items, `${path}[]`)
  if (typeof at.additionalProperties === 'object')
    for (const branch of at.additionalProperties.anyOf ?? [at.additionalProperties])
      yield* renderNestedConfigKeys(branch, `${path}.<name>`)
}

function formatTypeAndDefault(value: JsonSchema): string {
  const hasDefault = value.type !== 'object' && value.default !== undefined
  return `${formatSchemaType(value)}${hasDefault ? `; default: \`${JSON.stringify(value.default)}\`` : ''}`
}

function formatSchemaType(value: JsonSchema): string {
  if (value.anyOf) return value.anyOf.map(formatSchemaType).join(' or ')
  if (value.enum) return value.enum.map((choice) => `\`${String(choice)}\``).join(', ')
  if (value.type === 'array')
    return `list of ${value.items ? formatSchemaType(value.items).replace(/^(section|string|integer)$/, '$1s') : 'anything'}`
  if (value.type === 'object') return value.properties ? 'section' : 'map'
  return value.type ?? 'anything'
}
