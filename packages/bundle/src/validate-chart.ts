// Checks the parts of a helm+v3 bundle that don't need Helm's engine: the chart's metadata and structure.
import type { Finding } from '@catalog-bot/findings/finding'
import { createFinding } from '@catalog-bot/findings/rule'
import { findChartRoot } from './bundle-format.ts'
import type { BundleFiles } from './bundle-files.ts'
import { decodeLikeGo } from '@catalog-bot/fbc/go/utf8'
import { getField, asList, asString } from './fields.ts'
import { toJsonData, readManifest } from './manifest-document.ts'
import { brokenChart } from './rules/reported-rules.ts'

const semverPattern = /^v?\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/

export function* validateChart(files: BundleFiles): Generator<Finding> {
  const root = findChartRoot(files) ?? ''
  const file = `${root}Chart.yaml`
  const createBrokenChartFinding = (problem: string) =>
    createFinding(brokenChart, { file, line: 1, column: 1 }, { problem })
  const document = readManifest(files.get(file) ?? new Uint8Array(0))
  if (document.kind === 'unreadable') {
    yield createBrokenChartFinding(`${file} can't be parsed: ${document.reason}`)
    return
  }
  const chart = toJsonData(document.value)
  const apiVersion = asString(getField(chart, 'apiVersion'))
  if (apiVersion !== 'v1' && apiVersion !== 'v2')
    yield createBrokenChartFinding(`its apiVersion is "${apiVersion}", not v1 or v2`)
  if (asString(getField(chart, 'name')) === '') yield createBrokenChartFinding('it has no name')
  const version = asString(getField(chart, 'version'))
  if (!semverPattern.test(version)) yield createBrokenChartFinding(`"${version}" is not a semantic version`)
  if (asString(getField(chart, 'type')) === 'library')
    yield createBrokenChartFinding("it is a library chart, which doesn't install anything")
  const values = files.get(`${root}values.yaml`)
  if (values && values.length > 0) {
    const read = readManifest(values)
    if (read.kind === 'unreadable' && !/empty/.test(read.reason))
      yield createBrokenChartFinding(`values.yaml can't be parsed: ${read.reason}`)
  }
  const schema = files.get(`${root}values.schema.json`)
  if (schema && !isJsonObjectFile(schema))
    yield createBrokenChartFinding('values.schema.json is not a JSON object')
  for (const [path, bytes] of files)
    if (path.startsWith(`${root}templates/`) && !hasBalancedBraces(decodeLikeGo(bytes)))
      yield createBrokenChartFinding(`${path} has an unclosed {{`)
  // Charts with apiVersion v1 list them in a separate file.
  const requirements = files.get(`${root}requirements.yaml`)
  const required = requirements && readManifest(requirements)
  const dependencies = [
    ...asList(getField(chart, 'dependencies')),
    ...(required?.kind === 'value' ? asList(getField(toJsonData(required.value), 'dependencies')) : []),
  ]
  for (const dependency of dependencies) {
    const name = asString(getField(dependency, 'name'))
    const isVendored = [...files.keys()].some(
      (path) => path.startsWith(`${root}charts/${name}/`) || path.startsWith(`${root}charts/${name}-`),
    )
    if (!isVendored) yield createBrokenChartFinding(`its dependency "${name}" is not in charts/`)
  }
  if (
    ![...files.keys()].some((path) => path.startsWith(`${root}templates/`) || path.startsWith(`${root}crds/`))
  )
    yield createBrokenChartFinding('it has neither templates nor CRDs')
}

function isJsonObjectFile(bytes: Uint8Array): boolean {
  try {
    const data: unknown = JSON.parse(decodeLikeGo(bytes))
    return typeof data === 'object' && data !== null && !Array.isArray(data)
  } catch {
    return false
  }
}

/** Whether every template action is closed before the next one opens. Ignores comments and strings. */
function hasBalancedBraces(text: string): boolean {
  const bare = text
    .replace(/\{\{-?\s*\/\*[\s\S]*?\*\/\s*-?\}\}/g, '')
    // A string inside an action can contain braces.
    .replace(/\{\{(?:"(?:[^"\\\n]|\\.)*"|`[^`]*`|[^"`{}]|\{(?!\{)|\}(?!\}))*\}\}/g, '')
  return !bare.includes('{{')
}
