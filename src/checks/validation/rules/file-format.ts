import {
  fieldShapesByBlobSchema,
  getFieldShape,
  valueShapesByPropertyType,
  type KnownFieldShape,
} from '@catalog-bot/fbc/load/find-strict-decoding-problems'
import { defineRule, toFindingLocation } from '../catalog-rule.ts'
import { findSimilarName } from '../names.ts'
import {
  toStrictDecodingRuleHit,
  listStrictDecodingProblems,
  findEnclosingPropertyType,
} from '../view/catalog-view.ts'

export const misspelledFieldRule = defineRule<{ path: string; field: string; known: string; schema: string }>(
  {
    id: 'misspelt-field',
    severity: 'error',
    title: 'Field names are spelled correctly',
    what: ({ field, known, schema }) => `${schema} has no field "${field}" (did you mean "${known}"?)`,
    why: 'opm silently ignores unknown fields, so the value of this field has no effect.',
    fix: ({ known }) => `Rename the field to "${known}", or remove it.`,
    *find(catalog) {
      for (const { leniency, path, field, similar: known, schema } of listUnknownFields(catalog))
        if (known !== undefined)
          yield { ...toStrictDecodingRuleHit(leniency, path), data: { path, field, known, schema } }
    },
  },
)

export const unknownFieldRule = defineRule<{
  path: string
  field: string
  schema: string
  known: readonly string[]
}>({
  id: 'unknown-field',
  severity: 'warning',
  title: 'Blobs contain only fields that the format defines',
  what: ({ field, schema, known }) =>
    `${schema} has no field "${field}"${known.length > 0 ? ` here; the allowed fields are ${known.join(', ')}` : ''}`,
  why: 'opm ignores unknown fields, so the value has no effect.',
  fix: 'Remove the field. If the value of the field is only for human readers, use a comment instead.',
  *find(catalog) {
    // Other rules cover the rest with better advice.
    for (const { leniency, similar, ...data } of listUnknownFields(catalog))
      if (similar === undefined && !isRelatedImageValueField(data.path))
        yield { ...toStrictDecodingRuleHit(leniency, leniency.path), data }
  },
})

/** Fields that opm does not know, with the known ones at their place. `similar`: the known one that may be meant. */
function* listUnknownFields(catalog: Parameters<typeof listStrictDecodingProblems>[0]) {
  for (const leniency of listStrictDecodingProblems(catalog, 'unknown-field')) {
    const { path, schema } = leniency
    if (!Object.hasOwn(fieldShapesByBlobSchema, schema)) continue
    const field = path.slice(path.lastIndexOf('.') + 1)
    const type = findEnclosingPropertyType(catalog, leniency)
    const known = findKnownFieldNames(schema, path, type)
    yield { leniency, path, field, schema: type ?? schema, known, similar: findSimilarName(field, known) }
  }
}

function isRelatedImageValueField(path: string): boolean {
  return /^relatedImages\[\d+\]\.value$/i.test(path)
}

export const concatenatedJsonRule = defineRule<{ name: string }>({
  id: 'concatenated-json',
  severity: 'error',
  title: 'A file of JSON objects starts with "{"',
  what: ({ name }) => `opm does not read the objects after the first one${name === '' ? '' : ` ("${name}")`}`,
  why:
    'A file that does not start with "{" is parsed as YAML, where a document ends after its first value. ' +
    'All objects after the first one are missing from the catalog.',
  fix: 'Remove everything before the first "{" (a comment, "---", or a byte order mark), or put "---" between the objects.',
  *find(catalog) {
    for (const leniency of listStrictDecodingProblems(catalog, 'dropped-text')) {
      if (!leniency.text.trimStart().startsWith('{')) continue
      yield { ...toStrictDecodingRuleHit(leniency, 'objects'), data: { name: leniency.name } }
    }
  },
})

export const droppedTextRule = defineRule<{ text: string }>({
  id: 'dropped-text',
  severity: 'error',
  title: 'opm reads every line of a file',
  what: ({ text }) => `opm drops everything from here to the end of the document: ${quoteFirstLine(text)}`,
  why: 'opm reads one value from each document and ignores the rest, so this part is missing from the catalog.',
  fix: 'Put "---" on a separate line before this part, indent this part like the lines above it, or remove this part.',
  *find(catalog) {
    for (const leniency of listStrictDecodingProblems(catalog, 'dropped-text')) {
      // The rule concatenated-json covers these.
      if (leniency.text.trimStart().startsWith('{')) continue
      yield { ...toStrictDecodingRuleHit(leniency, leniency.text), data: { text: leniency.text } }
    }
  },
})

function quoteFirstLine(text: string): string {
  const line = text.trim().split('\n')[0] ?? ''
  return JSON.stringify(line.length > 60 ? `${line.slice(0, 60)}...` : line)
}

export const repeatedKeyRule = defineRule<{ path: string }>({
  id: 'repeated-key',
  severity: 'error',
  title: 'Every key of a mapping is unique',
  what: ({ path }) => `the key "${path}" appears more than once`,
  why: 'If a key is repeated, opm uses only the last value and silently drops everything under the earlier keys.',
  fix: 'Merge the duplicate keys into a single key.',
  *find(catalog) {
    for (const leniency of listStrictDecodingProblems(catalog, 'repeated-key'))
      yield { ...toStrictDecodingRuleHit(leniency, leniency.path), data: { path: leniency.path } }
  },
})

/**
 * A value that YAML parses as a different type than it appears to have, in a place where opm accepts any type.
 * Elsewhere, opm rejects the file.
 */
export const misreadScalarRule = defineRule<{ path: string; text: string; value: number | boolean }>({
  id: 'surprising-scalar',
  severity: 'warning',
  title: 'Unquoted values have the type that they appear to have',
  what: ({ path, text, value }) =>
    `the value ${text} of ${path} is parsed as the ${typeof value} ${String(value)}`,
  why: 'YAML infers the type of an unquoted value, and tools get only the inferred value.',
  fix: ({ text, value }) =>
    `If the value is a string, write '${text}' in quotes. If it is a ${typeof value}, write ${String(value)}.`,
  *find(catalog) {
    for (const leniency of listStrictDecodingProblems(catalog, 'scalar')) {
      // max-openshift-version covers the platform's version.
      const index = /^properties\[(\d+)\]\.value$/i.exec(leniency.path)?.[1]
      const bundle =
        index === undefined ? undefined : catalog.package(leniency.package)?.bundle(leniency.name)
      if (bundle?.blob.properties[Number(index)]?.type === 'olm.maxOpenShiftVersion') continue
      const { path, text, value } = leniency
      yield { ...toStrictDecodingRuleHit(leniency, path), data: { path, text, value } }
    }
  },
})

/** Schemas of opm's templates, including the retired composite ones. */
const templateSchemaPattern = /^olm\.(?:template\.[\w.-]+|semver|composite(?:\.\w+)?|builder\.\w+)$/

export const templateInCatalogRule = defineRule<{ schema: string }>({
  id: 'template-in-catalog',
  severity: 'warning',
  title: 'Templates are stored outside the catalog',
  what: ({ schema }) => `the catalog contains a template (${schema})`,
  why: 'opm keeps the template as a custom blob and does not render it, so its packages are not added to the catalog.',
  fix: 'Move the template out of the catalog (or list it in .indexignore), and commit the output of `catalog-bot render`.',
  *find({ catalog }) {
    for (const { schema, package: inPackage, place } of catalog.others)
      if (templateSchemaPattern.test(schema))
        yield { at: toFindingLocation(place), about: [inPackage, schema, place.file], data: { schema } }
  },
})

/** Other rules about custom schemas skip templates. */
export function isTemplateSchemaName(schema: string): boolean {
  return templateSchemaPattern.test(schema)
}

export const emptyCatalogRule = defineRule<{ files: number }>({
  id: 'empty-catalog',
  severity: 'warning',
  title: 'A catalog has at least one package',
  what: ({ files }) => (files === 0 ? 'the catalog has no files' : 'the catalog has no packages'),
  why: 'Clusters can install nothing from a catalog without packages. Usually, its files are in a different directory or are ignored.',
  fix: 'Check the directory and its .indexignore file, or remove the catalog.',
  *find({ catalog }) {
    // An unreadable catalog may not be empty.
    if (catalog.packages.length === 0 && catalog.loadErrors.length === 0)
      yield { about: ['', 'catalog'], data: { files: catalog.files.length } }
  },
})

/**
 * Known fields of the mapping at `path` (`entries[3].replace`). Below a property's `value`: those of its `type`, or of
 * all closed types if the type is unknown.
 */
function findKnownFieldNames(schema: string, path: string, type?: string): string[] {
  const steps = path
    .replaceAll(/\[\d+\]/g, '')
    .split('.')
    .slice(0, -1)
  let shape: KnownFieldShape | undefined = Object.hasOwn(fieldShapesByBlobSchema, schema)
    ? fieldShapesByBlobSchema[schema]
    : undefined
  for (const step of steps) {
    if (typeof shape !== 'object') break
    shape = getFieldShape(shape, step)
  }
  if (typeof shape === 'object') return Object.keys(shape)
  if (shape !== 'any') return []
  const own =
    type !== undefined && Object.hasOwn(valueShapesByPropertyType, type)
      ? valueShapesByPropertyType[type]
      : undefined
  if (typeof own === 'object') return Object.keys(own)
  return [
    ...new Set(
      Object.values(valueShapesByPropertyType).flatMap((its) =>
        typeof its === 'object' ? Object.keys(its) : [],
      ),
    ),
  ]
}
