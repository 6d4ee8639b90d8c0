import { defineRule } from '../../findings/rule.ts'

const nothingLoadsMessage =
  'opm stops at this: no package of the whole catalog can be served, not only this file.'

export const unreadableFile = defineRule<{ message: string }>({
  id: 'unreadable-file',
  check: 'validation',
  judges: 'pull request',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Every file of the catalog can be opened',
  format: ({ message }) => ({
    what: `the file cannot be opened: ${message}`,
    why: nothingLoadsMessage,
    fix: 'Remove the file, or the link that leads nowhere; or name it in .indexignore.',
  }),
})

export const yamlSyntax = defineRule<{ detail: string }>({
  id: 'yaml-syntax',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Every document can be read as YAML',
  format: ({ detail }) => ({
    what: `this cannot be read as YAML: ${detail}`,
    why: nothingLoadsMessage,
    fix: 'Correct the syntax here or in the lines just before. If the file is not part of the catalog, name it in .indexignore.',
  }),
})

export const jsonSyntax = defineRule<{ detail: string }>({
  id: 'json-syntax',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Every document of a JSON file can be read as JSON',
  format: ({ detail }) => ({
    what: `this cannot be read as JSON: ${detail}`,
    why: nothingLoadsMessage,
    fix: 'Correct the syntax here or just before: a missing comma, an extra one, a missing quote or brace.',
  }),
})

export const documentSeparator = defineRule<{ text: string }>({
  id: 'document-separator',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A document separator stands alone on its line',
  format: ({ text }) => ({
    what: `the line begins with "---" and goes on with "${truncateText(text)}"`,
    why: `A line that begins with three dashes ends a document, even inside a text, and only a comment may follow. ${nothingLoadsMessage}`,
    fix: 'Put what follows on the next line. If the dashes belong to a text, indent the line.',
  }),
})

export const notAnObject = defineRule<{ found: string }>({
  id: 'not-an-object',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Every document is an object with fields',
  format: ({ found }) => ({
    what: `the document is ${withArticle(found)}, not an object`,
    why: `A catalog is a series of objects that each say their schema. ${nothingLoadsMessage}`,
    fix: 'Write the document as fields ("schema: ...", "name: ..."). Turn a list of blobs into one document for each blob, with "---" between them. If the file is not part of the catalog, name it in .indexignore.',
  }),
})

export const duplicateField = defineRule<{ spellings: readonly string[] }>({
  id: 'duplicate-field',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'No two fields of a document differ in case only',
  format: ({ spellings }) => ({
    what: `one field is written in ${spellings.length} ways: ${spellings.map((one) => truncateText(one)).join(', ')}`,
    why: `Field names are read without regard to case, so these are the same field. ${nothingLoadsMessage}`,
    fix: 'Keep one of them.',
  }),
})

export const fieldNotText = defineRule<{ field: string; found: string }>({
  id: 'field-not-text',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'schema, package and name are texts',
  format: ({ field, found }) => ({
    what: `"${field}" is ${withArticle(found)}, not a text`,
    why: `YAML reads 1.10, yes, y, null and the like as numbers, truth values or nothing. ${nothingLoadsMessage}`,
    fix: found === 'null' ? 'Give it a value, or remove the field.' : 'Put the value in quotes.',
  }),
})

export const missingSchema = defineRule<{ empty: boolean }>({
  id: 'missing-schema',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Every document says its schema',
  format: ({ empty }) => ({
    what: empty ? 'the document is empty' : 'the document has no "schema"',
    why: `Without a schema a document means nothing to opm, and an empty one counts as a document. ${nothingLoadsMessage}`,
    fix: empty
      ? 'Remove the document separator ("---") that makes an empty document here: comments and blank lines alone are one too.'
      : 'Add "schema: olm.package", "olm.channel", "olm.bundle" or "olm.deprecations". If the file is not part of the catalog, name it in .indexignore.',
  }),
})

export const wrongFieldType = defineRule<{ field: string; wanted: string; found: string }>({
  id: 'wrong-field-type',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Every field has the type that its schema gives it',
  format: ({ field, wanted, found }) => ({
    what:
      field === ''
        ? `the value is ${found}, where ${wanted} belongs`
        : `"${field}" is ${found}, where ${wanted} belongs`,
    why: nothingLoadsMessage,
    fix: wanted === 'a text' ? 'Put the value in quotes.' : `Write ${wanted} here.`,
  }),
})

export const badBundleObject = defineRule<{ detail: string }>({
  id: 'bad-bundle-object',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'Every olm.bundle.object holds a manifest in base64',
  format: ({ detail }) => ({
    what: `this olm.bundle.object cannot be read: ${detail}`,
    why: nothingLoadsMessage,
    fix: 'Render the bundle again; its "data" is the base64 of one manifest.',
  }),
})

export const moreProblems = defineRule<{ count: number }>({
  id: 'more-problems',
  check: 'validation',
  judges: 'catalog',
  severity: 'error',
  since: '0.1.0',
  fixed: true,
  title: 'A file has few enough problems to list them all',
  format: ({ count }) => ({
    what: `${count} more problems of this file are not listed`,
    why: '',
    fix: 'Correct the listed ones first; one cause often has many effects.',
  }),
})

/** Keeps text from the file from flooding a message. */
function truncateText(text: string): string {
  const line = text.split('\n', 1)[0] ?? ''
  return line.length > 60 ? `${line.slice(0, 57)}...` : line
}

function withArticle(found: string): string {
  if (found === 'null') return 'null'
  return `${/^[aeo]/.test(found) ? 'an' : 'a'} ${found === 'bool' ? 'truth value' : found}`
}
