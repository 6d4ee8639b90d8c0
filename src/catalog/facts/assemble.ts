// Combines the facts of all files into one catalog.
import type { BlobPlace, Catalog, FileFacts } from './catalog.ts'
import type { Finding } from '../../findings/finding.ts'
import { compareWalk } from '../../go/walk-order.ts'

/** `files` can be in any order; the result is in walk order. Sets the paths in places and findings. */
export function assemble(files: Iterable<{ readonly path: string; readonly facts: FileFacts }>): Catalog {
  const walked = [...files].sort((a, b) => compareWalk(a.path, b.path))
  const all = <Part>(part: (facts: FileFacts, path: string) => readonly Part[]): Part[] =>
    walked.flatMap(({ path, facts }) => part(facts, path))
  return {
    packages: all((facts, path) => facts.packages.map((blob) => inFile(blob, path))),
    channels: all((facts, path) => facts.channels.map((blob) => inFile(blob, path))),
    bundles: all((facts, path) => facts.bundles.map((blob) => inFile(blob, path))),
    deprecations: all((facts, path) => facts.deprecations.map((blob) => inFile(blob, path))),
    others: all((facts, path) => facts.others.map((blob) => inFile(blob, path))),
    findings: all((facts, path) => facts.findings.map((finding) => findingInFile(finding, path))),
    oddities: all((facts, path) => (facts.oddities ?? []).map((oddity) => ({ ...oddity, file: path }))),
    loadErrors: walked.flatMap(({ path, facts }) =>
      facts.loadError === undefined ? [] : [{ file: path, message: facts.loadError }],
    ),
    files: walked.map(({ path, facts }) => ({ path, bytes: facts.bytes })),
  }
}

function inFile<Blob extends { readonly place: BlobPlace }>(blob: Blob, file: string): Blob {
  return { ...blob, place: { ...blob.place, file } }
}

function findingInFile(finding: Finding, file: string): Finding {
  // A finding about the whole file still has to name the file.
  const at = { line: 1, column: 1, ...finding.at, file }
  if (!finding.related) return { ...finding, at }
  return { ...finding, at, related: finding.related.map((one) => ({ ...one, at: { ...one.at, file } })) }
}
