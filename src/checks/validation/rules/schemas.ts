import { fieldShapesByBlobSchema } from '@catalog-bot/fbc/load/find-strict-decoding-problems'
import { defineRule, toFindingLocation } from '../catalog-rule.ts'
import { findSimilarName } from '../names.ts'
import { isTemplateSchemaName } from './file-format.ts'

const opmServableNamePattern = /^[a-zA-Z0-9][a-zA-Z0-9._-]*$/

/** Names of custom blobs that `opm serve` rejects although `opm validate` accepts them (since opm v1.69.0). */
export const unservableSchemaRule = defineRule<{ field: 'schema' | 'package'; value: string }>({
  id: 'unservable-schema',
  severity: 'error',
  title: 'opm can serve the schema and package names of every custom blob',
  what: ({ field, value }) => `opm cannot serve a custom blob with the ${field} "${value}"`,
  why: '`opm validate` accepts the blob, but the pod that serves the catalog rejects it and never starts.',
  fix: 'Use only letters, digits, dots, dashes, and underscores, and start the value with a letter or digit.',
  *find({ catalog }) {
    for (const { schema, package: inPackage, name, place } of catalog.others) {
      const about = [inPackage, schema, name]
      if (!opmServableNamePattern.test(schema))
        yield { at: toFindingLocation(place), about, data: { field: 'schema', value: schema } }
      if (inPackage !== '' && !opmServableNamePattern.test(inPackage))
        yield { at: toFindingLocation(place), about, data: { field: 'package', value: inPackage } }
    }
  },
})

export const misspelledSchemaRule = defineRule<{ schema: string; known: string }>({
  id: 'misspelt-schema',
  severity: 'error',
  title: 'Schema names are spelled correctly',
  what: ({ schema, known }) => `opm does not recognize the schema "${schema}" (did you mean "${known}"?)`,
  why: 'Schema names are case-sensitive. opm keeps blobs with unknown schemas but never interprets them.',
  fix: ({ known }) => `Change the schema to "${known}".`,
  *find({ catalog }) {
    for (const { schema, package: inPackage, name, place } of catalog.others) {
      const known = suggestKnownSchema(schema)
      if (known !== undefined)
        yield { at: toFindingLocation(place), about: [inPackage, schema, name], data: { schema, known } }
    }
  },
})

/** The intended schema, for a misspelled one. */
function suggestKnownSchema(schema: string): string | undefined {
  return isTemplateSchemaName(schema)
    ? undefined
    : findSimilarName(schema, Object.keys(fieldShapesByBlobSchema))
}

export const reservedSchemaRule = defineRule<{ schema: string }>({
  id: 'reserved-schema',
  severity: 'warning',
  title: 'Custom schemas do not use the prefix "olm."',
  what: ({ schema }) => `the schema "${schema}" uses the prefix "olm.", which is reserved for OLM`,
  why: 'A later opm release might define a schema with this name and then read or reject the blob.',
  fix: 'Start the schema name with your own prefix, such as a domain name.',
  *find({ catalog }) {
    for (const { schema, package: inPackage, name, place } of catalog.others)
      if (/^olm\./i.test(schema) && !isTemplateSchemaName(schema) && suggestKnownSchema(schema) === undefined)
        yield { at: toFindingLocation(place), about: [inPackage, schema, name], data: { schema } }
  },
})

export const duplicateCustomBlobRule = defineRule<{ schema: string; name: string }>({
  id: 'duplicate-custom-blob',
  severity: 'warning',
  title: 'Every custom blob has a unique combination of schema, package, and name',
  what: ({ schema, name }) => `the package has more than one blob with schema "${schema}" and name "${name}"`,
  why: 'Tools identify a blob by schema, package, and name, so you cannot predict which of these blobs they will read.',
  fix: 'Remove the duplicates, or give each blob a unique name.',
  *find({ catalog }) {
    const seen = new Map<string, (typeof catalog.others)[number]>()
    for (const blob of catalog.others) {
      const { schema, package: inPackage, name, place } = blob
      // Blobs without a name need not be unique.
      if (name === '' || isTemplateSchemaName(schema)) continue
      const key = JSON.stringify([schema, inPackage, name])
      const first = seen.get(key)
      if (first === undefined) seen.set(key, blob)
      else
        yield {
          at: toFindingLocation(place),
          about: [inPackage, schema, name],
          data: { schema, name },
          related: [{ at: toFindingLocation(first.place), note: 'the first blob' }],
        }
    }
  },
})

export const unknownPackageInCustomBlobRule = defineRule<{ schema: string; name: string; near: string }>({
  id: 'unknown-package-in-custom-blob',
  severity: 'warning',
  title: 'Custom blobs refer to packages in the catalog',
  what: ({ schema, name }) =>
    `a blob with schema "${schema}" refers to package "${name}", which is not in the catalog`,
  why: 'Tools look up custom blobs by package, so they never find this blob.',
  fix: ({ near }) => `Correct the package name${near === '' ? '' : ` to "${near}"`}, or remove the blob.`,
  *find(view) {
    let guesses = maxPackageNameSuggestions
    const names = new Set(view.catalog.packages.map(({ name }) => name))
    for (const { schema, package: name, name: own, place } of view.catalog.others) {
      if (name === '' || names.has(name) || isTemplateSchemaName(schema)) continue
      const near = (guesses-- > 0 ? findSimilarName(name, names) : undefined) ?? ''
      yield { at: toFindingLocation(place), about: [name, schema, own], data: { schema, name, near } }
    }
  },
})

/** Each guess compares with every package. */
const maxPackageNameSuggestions = 100
