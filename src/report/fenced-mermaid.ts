import { renderFencedBlock } from './fenced-block.ts'

export function renderMermaidBlock(source: string): string {
  return renderFencedBlock('mermaid', source)
}
