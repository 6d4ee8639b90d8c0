import { createRuleDefiner } from '@catalog-bot/findings/rule'

const catalogLoadFailureMessage = 'opm stops at this error, so it cannot serve any package in the catalog.'

/** An error with which opm rejects the catalog, so the configuration can't disable it. */
export const defineOpmRule = createRuleDefiner({
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
})

export const unreadableFileRule = defineOpmRule<{ message: string }>({
  id: 'unreadable-file',
  judges: 'pull request',
  title: 'Every file in the catalog can be opened',
  what: ({ message }) => `the file cannot be opened: ${message}`,
  why: catalogLoadFailureMessage,
  fix: 'Remove the file, fix the broken link, or list the file in .indexignore.',
})

export const yamlSyntaxRule = defineOpmRule<{ detail: string }>({
  id: 'yaml-syntax',
  title: 'Every document can be parsed as YAML',
  what: ({ detail }) => `invalid YAML: ${detail}`,
  why: catalogLoadFailureMessage,
  fix: 'Fix the syntax on this line or just above it. If the file is not part of the catalog, list it in .indexignore.',
})

export const jsonSyntaxRule = defineOpmRule<{ detail: string }>({
  id: 'json-syntax',
  title: 'Every document in a JSON file can be parsed as JSON',
  what: ({ detail }) => `invalid JSON: ${detail}`,
  why: catalogLoadFailureMessage,
  fix: 'Fix the syntax at this position or just before it. Look for a missing or extra comma, a missing quote, or a missing brace.',
})

export const documentSeparatorRule = defineOpmRule<{ text: string }>({
  id: 'document-separator',
  title: 'A document separator is on its own line',
  what: ({ text }) => `the line starts with "---" and continues with "${truncateText(text)}"`,
  why: `A line that starts with three dashes ends a document, even inside a multiline string. Only a comment may follow the dashes. ${catalogLoadFailureMessage}`,
  fix: 'Move the text after the dashes to the next line. If the dashes are part of a string, indent the line.',
})

export const notAnObjectRule = defineOpmRule<{ found: string }>({
  id: 'not-an-object',
  title: 'Every document is an object with fields',
  what: ({ found }) => `the document is ${addIndefiniteArticle(found)}, not an object`,
  why: `Every document in a catalog must be an object with a schema. ${catalogLoadFailureMessage}`,
  fix: 'Write the document as an object ("schema: ...", "name: ..."). Split a list of blobs into separate documents with "---" between them. If the file is not part of the catalog, list it in .indexignore.',
})

export const duplicateFieldRule = defineOpmRule<{ spellings: readonly string[] }>({
  id: 'duplicate-field',
  title: 'No two fields in a document differ only in case',
  what: ({ spellings }) =>
    `the same field is spelled in ${spellings.length} different ways: ${spellings.map((one) => truncateText(one)).join(', ')}`,
  why: `opm ignores case in field names, so it treats names that differ only in case as the same field. ${catalogLoadFailureMessage}`,
  fix: 'Keep only one of these fields.',
})

export const fieldNotTextRule = defineOpmRule<{ field: string; found: string }>({
  id: 'field-not-text',
  title: 'schema, package, and name are strings',
  what: ({ field, found }) => `"${field}" is ${addIndefiniteArticle(found)}, not a string`,
  why: `YAML parses an unquoted 1.10 as a number, yes and y as booleans, and null as an empty value. ${catalogLoadFailureMessage}`,
  fix: ({ found }) => (found === 'null' ? 'Set a value, or remove the field.' : 'Put the value in quotes.'),
})

export const missingSchemaRule = defineOpmRule<{ empty: boolean }>({
  id: 'missing-schema',
  title: 'Every document has a schema',
  what: ({ empty }) => (empty ? 'the document is empty' : 'the document has no "schema"'),
  why: ({ empty }) =>
    `${empty ? 'opm requires a schema even in an empty document.' : 'The schema tells opm what the document contains.'} ${catalogLoadFailureMessage}`,
  fix: ({ empty }) =>
    empty
      ? 'Remove the document separator ("---") that creates an empty document here. A document that contains only comments and blank lines is also empty.'
      : 'Set "schema" to olm.package, olm.channel, olm.bundle, or olm.deprecations. If the file is not part of the catalog, list it in .indexignore.',
})

export const wrongFieldTypeRule = defineOpmRule<{ field: string; wanted: string; found: string }>({
  id: 'wrong-field-type',
  title: 'Every field has the type that its schema defines',
  what: ({ field, wanted, found }) =>
    field === ''
      ? `the value is ${found}, but must be ${wanted}`
      : `"${field}" is ${found}, but must be ${wanted}`,
  why: catalogLoadFailureMessage,
  fix: ({ wanted }) =>
    wanted === 'a string' ? 'Put the value in quotes.' : `Change the value to ${wanted}.`,
})

export const badBundleObjectRule = defineOpmRule<{ detail: string }>({
  id: 'bad-bundle-object',
  title: 'Every olm.bundle.object property contains a base64-encoded manifest',
  what: ({ detail }) => `this olm.bundle.object property cannot be decoded: ${detail}`,
  why: catalogLoadFailureMessage,
  fix: 'Render the bundle again. The "data" field must contain one base64-encoded manifest.',
})

export const moreProblemsRule = defineOpmRule<{ count: number }>({
  id: 'more-problems',
  title: 'catalog-bot can list all problems in a file',
  what: ({ count }) => `${count} more problems in this file are not shown`,
  why: '',
  fix: 'Fix the listed problems first. Many of them might have the same cause.',
})

/** Keeps text from the file from flooding a message. */
function truncateText(text: string): string {
  const line = text.split('\n', 1)[0] ?? ''
  return line.length > 60 ? `${line.slice(0, 57)}...` : line
}

function addIndefiniteArticle(found: string): string {
  if (found === 'null') return 'null'
  return `${/^[aeo]/.test(found) ? 'an' : 'a'} ${found === 'bool' ? 'boolean' : found}`
}
