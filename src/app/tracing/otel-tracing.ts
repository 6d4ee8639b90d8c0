// Traces by OpenTelemetry's own SDK, sent to a collector in OTLP by HTTP. It reads the variables that OpenTelemetry specifies
// (endpoint, headers, timeout). Nothing that others wrote is in a span: names, numbers, and the kind of a failure.
import { AsyncLocalStorage } from 'node:async_hooks'
import { ROOT_CONTEXT, SpanStatusCode, trace, type Context } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import type { Tracing } from '../../ports/tracing.ts'

/** Milliseconds, at the end: a collector that hangs keeps nothing from ending. */
const longestSending = 3000

export function openOtelTracing(
  environment: Readonly<Record<string, string | undefined>>,
  problem: (error: unknown) => void,
): Tracing {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': environment['OTEL_SERVICE_NAME'] ?? 'catalog-bot' }),
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })],
  })
  const tracer = provider.getTracer('catalog-bot')
  // Ours, and no global one: whoever uses this process otherwise keeps theirs.
  const here = new AsyncLocalStorage<Context>()
  return {
    async span(name, attributes, work) {
      const parent = here.getStore() ?? ROOT_CONTEXT
      const span = tracer.startSpan(name, { attributes }, parent)
      try {
        return await here.run(trace.setSpan(parent, span), work)
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR })
        span.setAttribute('error.type', error instanceof Error ? error.name : 'unknown')
        throw error
      } finally {
        span.end()
      }
    },
    async close() {
      const patience = new Promise<void>((resolve) => setTimeout(resolve, longestSending).unref())
      await Promise.race([provider.shutdown().catch(problem), patience])
    },
  }
}
