// Made by generate.mjs from the OpenAPI document. Do not edit it; run `make client`.

export interface paths {
    "/v1/recall": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Recall
         * @description Search everything remembered (notes, entities, past messages) by meaning, words and time, best first. Use it before you answer anything that may depend on earlier conversations: people, preferences, decisions, plans, what was said and when. Needs the right to read.
         */
        post: operations["recall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/context": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Context
         * @description Get what is worth reading before you answer, dated and sourced, at the start of a conversation or task. Requires a `query`, or its last `messages`. Needs the right to read.
         */
        post: operations["context"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/explain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Explain a ranking
         * @description Why memories stand where they do for a query: every step that made the score. Needs the right to read.
         */
        post: operations["explain"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/why-not": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Why not
         * @description Why a memory was not found for a query, and what would lift it. Requires its `id`, or a `name`. Needs the right to read.
         */
        post: operations["why_not"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/why-not/full": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Why not, in full
         * @description Where a memory stands for a query: what each search made of it, how its score came about, the score that it needed, and what each step cost it. Requires its `id`, or a `name`. Needs the right to read.
         */
        post: operations["why_not_in_full"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/feedback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Feedback
         * @description Say whether memories that `recall` or `search_semantic` showed helped to answer, so that ranking can learn from it. Use it when one was just what was needed, or plainly beside the point. Requires `ids` or `names`. Needs the right to write.
         */
        post: operations["feedback"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List memories
         * @description List what is remembered, the newest first, page by page. To find something, ask `recall`. Needs the right to read.
         */
        get: operations["list_memories"];
        put?: never;
        /**
         * Remember
         * @description Save a fact, preference, decision, plan or event in one self-contained sentence that names who and what, whenever you learn something that will matter later. To correct a memory, pass its id as `supersedes`. Needs the right to write.
         */
        post: operations["remember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a memory
         * @description One memory with all that is known of it: every field, its versions, what it supersedes and is superseded by, the entities that it names, the turns around it, near copies, conflicts, and the last answers that showed it. Looking at it leaves no trace. Needs the right to read.
         */
        get: operations["get_memory"];
        put?: never;
        post?: never;
        /**
         * Forget
         * @description Forget memories when the user asks for it. Requires `ids`, or a `query`, which only shows what it would forget. For what has changed, `remember` with `supersedes`. Needs the right to write.
         */
        delete: operations["forget"];
        options?: never;
        head?: never;
        /**
         * Update
         * @description Change what is given of a memory; a former text stays as history. For what is no longer true, `remember` with `supersedes`. Needs the right to write.
         */
        patch: operations["update"];
        trace?: never;
    };
    "/v1/memories/forget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Forget
         * @description Forget memories when the user asks for it. Requires `ids`, or a `query`, which only shows what it would forget. For what has changed, `remember` with `supersedes`. Needs the right to write.
         */
        post: operations["forget_many"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/batch": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remember many
         * @description Save many notes at once: all of them, or none, unless `keep_going`. Needs the right to write.
         */
        post: operations["remember_many"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}/superseded-by": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Supersede
         * @description Retire a note or message in favour of another one, or of a new note. `restore` takes it back. Needs the right to write.
         */
        post: operations["supersede_by"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * History
         * @description What happened to a memory: what it said before, what corrected it, when. Needs the right to read.
         */
        get: operations["history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/browse": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Browse
         * @description List memories of any kind, filtered and sorted, page by page. Needs the right to read.
         */
        get: operations["browse"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/timeline": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Timeline
         * @description How many memories are of each day, week or month. `browse` with `since`, `until` and the same `time` lists those of one. Needs the right to read.
         */
        get: operations["timeline"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tags": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tags
         * @description Every tag and how many memories in force have it, the most frequent first. Needs the right to read.
         */
        get: operations["list_tags"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/categories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List categories
         * @description Every category and how many memories in force have it, the most frequent first. Needs the right to read.
         */
        get: operations["list_categories"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore
         * @description Bring back a memory that was forgotten or superseded. Needs the right to write. It takes no `Idempotency-Key`.
         */
        post: operations["restore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/memories/{id}/supersede": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Remember
         * @description Save a fact, preference, decision, plan or event in one self-contained sentence that names who and what, whenever you learn something that will matter later. To correct a memory, pass its id as `supersedes`. Needs the right to write.
         */
        post: operations["supersede"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Messages of a session
         * @description The messages of a conversation in order, or from its end. Needs the right to read.
         */
        get: operations["session_messages"];
        put?: never;
        /**
         * Save messages
         * @description Save raw turns of a conversation, in order, under the name of a session. For single facts use `remember`. Needs the right to write.
         */
        post: operations["add_messages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions/{session}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Clear a session
         * @description Forget a whole conversation and the notes drawn out of it, when the user asks for it. Needs the right to write. It takes no `Idempotency-Key`.
         */
        delete: operations["clear_session"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List sessions
         * @description Conversations with their number of turns, that with the newest turn first. Needs the right to read.
         */
        get: operations["list_sessions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reflections": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add a reflection
         * @description Save a thought about how things went or what to do better: yours or the user's, apart from facts. The entities, conversation or relation that it is about must exist. Needs the right to write. It takes no `Idempotency-Key`.
         */
        post: operations["add_reflection"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/reflections/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search reflections
         * @description Find earlier reflections by meaning, before you repeat a mistake. Needs the right to read.
         */
        post: operations["search_reflections"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Search nodes
         * @description Find entities by words in their name, type or observations. For questions use `recall`. Needs the right to read.
         */
        get: operations["search_nodes"];
        put?: never;
        /**
         * Create entities
         * @description Save people, projects, places and other things worth knowing again. One that exists keeps its type and status, and gains the new observations. Needs the right to write.
         */
        post: operations["create_entities"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Search by meaning
         * @description Find entities by what they mean, ranked by similarity, how often and how lately they were used, and what is usually seen together. Needs the right to read.
         */
        post: operations["search_semantic"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List entities
         * @description Entities with how many observations, relations and mentions each has. Needs the right to read.
         */
        get: operations["list_entities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/open": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Open nodes
         * @description Read entities by name, with their observations (of these kinds) and relations. Needs the right to read.
         */
        post: operations["open_nodes"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete entities
         * @description Forget entities and their relations, by exact name, where they should never have been saved. It can be undone. Needs the right to write.
         */
        post: operations["delete_entities"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Open nodes
         * @description Read entities by name, with their observations (of these kinds) and relations. Needs the right to read.
         */
        get: operations["open_entity"];
        put?: never;
        post?: never;
        /**
         * Delete entities
         * @description Forget entities and their relations, by exact name, where they should never have been saved. It can be undone. Needs the right to write.
         */
        delete: operations["delete_entity"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{name}/status": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        /**
         * Set a status
         * @description Mark an entity as active, paused, completed or archived; what is not active ranks lower. Needs the right to write.
         */
        put: operations["set_status"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{name}/neighbours": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Neighbours
         * @description The entities around one, over as many relations as `depth` says, the nearest first. `open_nodes` shows them. Needs the right to read.
         */
        get: operations["neighbours"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/observations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Add observations
         * @description Add facts to entities that exist, one short statement each: text, or an object with a `kind` (any word, such as fact, decision or metadata) and what it `supersedes`, which stays as history. Needs the right to write.
         */
        post: operations["add_observations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/observations/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete observations
         * @description Remove observations by their exact text. Needs the right to write.
         */
        post: operations["delete_observations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/relations": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create relations
         * @description Connect entities: who works where, what belongs to what; in active voice, such as works_at. An entity that does not exist is created with the type 'unknown'. Needs the right to write.
         */
        post: operations["create_relations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/relations/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * End a relation
         * @description Say that a relation holds no more, as when someone leaves a job. It stays as history. Needs the right to write. It takes no `Idempotency-Key`.
         */
        post: operations["end_relation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/relations/delete": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Delete relations
         * @description Remove relations that were never true. For one that has ended, `end_relation` where it is offered. Needs the right to write.
         */
        post: operations["delete_relations"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graph": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read the graph
         * @description Read the whole graph, page by page. Ask `recall` or `search_nodes` first. Needs the right to read.
         */
        get: operations["read_graph"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/graph/paths": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find paths
         * @description How two entities are connected: chains of relations from one to the other, the shortest first. Needs the right to read.
         */
        get: operations["find_paths"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dreams": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List dreams
         * @description Dreams, the newest first, with what each did in numbers and how its gate judged it. Needs the right to read.
         */
        get: operations["list_dreams"];
        put?: never;
        /**
         * Dream
         * @description Let the memory sleep: strengthen what was used, let the rest fade, merge repeats, retire copies of corrected errors. Only when the user asks for it, or after a long stretch of work; look with `dry_run` first. Nothing is lost: it is tried on past questions first, and can be undone. Needs the right to write. It takes no `Idempotency-Key`.
         */
        post: operations["dream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dreams/preview": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Preview a dream
         * @description Everything that a dream would do now, with the memories: what grows stronger and what fades, what is merged, corrected, pruned and linked, and how past questions would fare. Nothing is written. Needs the right to write.
         */
        post: operations["preview_dream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dreams/{id}/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo a dream
         * @description Put everything back as it was before a dream. What was changed since stays as it is. Needs the right to write. It takes no `Idempotency-Key`.
         */
        post: operations["undo_dream"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dreams/forecast": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Forecast
         * @description Which memories nightly dreams would archive or might prune, if nobody uses them from now on. Needs the right to read.
         */
        get: operations["forecast"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/dreams/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get a dream
         * @description A dream with every change that it made, before and after, page by page. Needs the right to read.
         */
        get: operations["get_dream"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settle/{kind}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What to settle
         * @description What a person should decide, of one kind: contradictions (among the newest texts), notes and observations that nearly repeat another, entities to split, entities that nobody uses. Needs the right to read.
         */
        get: operations["to_settle"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settle": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Settle
         * @description Decide one thing of `to_settle`: `supersede_older` lets the newer one count, `keep` leaves both and does not ask again. The answer's `undo` takes it back. Needs the right to write. It takes no `Idempotency-Key`.
         */
        post: operations["settle"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/settle/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo a decision
         * @description Take back what `settle` did, with the `undo` that it gave. Needs the right to write. It takes no `Idempotency-Key`.
         */
        post: operations["undo_settling"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/answers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List answers
         * @description The log of answers, the newest first: the question, what was shown, what the profile and its baseline ranked, and what became of it. Needs the right to read.
         */
        get: operations["list_answers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/answers/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Get an answer
         * @description One answer of the log, with where each memory stood in it and in the ranking beside it. Needs the right to read.
         */
        get: operations["get_answer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/answers/{id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Replay an answer
         * @description Ask a question of the log again, and compare place by place: then and now, the profile and what it is compared with. It leaves no trace. Needs the right to read.
         */
        get: operations["replay_answer"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/answers/empty": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Empty the log
         * @description Empty the log of answers and forget what was asked. There is no way back. Needs the right to admin.
         */
        post: operations["empty_log"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/quality/self-test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Self-test
         * @description Ask for memories by their own words, names and days, and tell how many each profile finds, which it misses and why. Nothing is written. Needs the right to read.
         */
        post: operations["self_test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/quality/confidence": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Confidence curve
         * @description How far the confidence of hits can be believed on this memory: what was stated, what proved right. Needs the right to read.
         */
        get: operations["confidence_curve"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tuning": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tuning state
         * @description Every profile's numbers, as published and as they are by now, and what the log holds. Needs the right to read.
         */
        get: operations["tuning_state"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tuning/analysis": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Analyze tuning
         * @description How a profile fares in the log against what it is compared with. Needs the right to read.
         */
        get: operations["analyze_tuning"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tuning/history": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Tuning history
         * @description Every set of numbers that a profile was given, the newest first. Needs the right to read.
         */
        get: operations["tuning_history"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tuning/run": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Run tuning
         * @description Look for better numbers in the log of answers, and take a step towards them if they are better beyond chance. It only tells what it would do, unless `dry_run` is false. Needs the right to admin. It takes no `Idempotency-Key`.
         */
        post: operations["run_tuning"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tuning/set": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Set numbers
         * @description Move numbers of a profile towards these by a tenth of the way, or exactly there. Needs the right to admin. It takes no `Idempotency-Key`.
         */
        post: operations["set_numbers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tuning/reset": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reset numbers
         * @description Give a profile its published numbers back; `rollback_tuning` takes that back. Needs the right to admin.
         */
        post: operations["reset_numbers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tuning/rollback": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Roll tuning back
         * @description Go back to the numbers of a version of `tuning_history`. Needs the right to admin. It takes no `Idempotency-Key`.
         */
        post: operations["rollback_tuning"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Statistics
         * @description How much the memory holds, how large it is, and what still waits to be found by meaning. Needs the right to read.
         */
        get: operations["stats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/report": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Consolidation report
         * @description What in the memory wants care: contradictions, entities to split, near-repeats, what is stale or oversized. Needs the right to read.
         */
        get: operations["consolidation_report"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/duplicates": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find duplicate observations
         * @description Pairs of observations of an entity that nearly repeat one another, to be merged or removed. Needs the right to read.
         */
        get: operations["find_duplicate_observations"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/splits": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find split candidates
         * @description Entities that grew too large and fall into several topics. Needs the right to read.
         */
        get: operations["find_split_candidates"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{name}/split": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Analyze a split
         * @description Whether an entity should be split, and into which topics. Needs the right to read.
         */
        get: operations["analyze_entity_split"];
        put?: never;
        /**
         * Execute a split
         * @description Split an entity as proposed, or as you changed the proposal: all at once or not at all. The answer's `undo` takes it back. Needs the right to write. It takes no `Idempotency-Key`.
         */
        post: operations["execute_entity_split"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{name}/split/proposal": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Propose a split
         * @description New entities for the topics of an overgrown one, with the observations that would move. Needs the right to read.
         */
        get: operations["propose_entity_split"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/splits/undo": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Undo a split
         * @description Put a split entity together again, with the `undo` that the split gave. Needs the right to write. It takes no `Idempotency-Key`.
         */
        post: operations["undo_entity_split"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/doctor": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Doctor
         * @description What is in order with the whole store and what is not, each with what to do about it. Needs the right to admin and a token that is bound to no owner.
         */
        get: operations["doctor"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/store": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * State of the store
         * @description How large the whole store is, its model, what waits for a vector, who works on it, its backups. Needs the right to admin and a token that is bound to no owner.
         */
        get: operations["store_state"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/verify": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Verify
         * @description Everything that is wrong with the store. It changes nothing; `recollect verify --repair` mends it. Needs the right to admin and a token that is bound to no owner.
         */
        post: operations["verify"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/backup": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Back up
         * @description Copy the store into the folder of backups beside it, while others go on reading and writing. Needs the right to admin and a token that is bound to no owner. It takes no `Idempotency-Key`.
         */
        post: operations["backup"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/reindex": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Reindex
         * @description Embed what waits for a vector, or everything with another model. Search goes on meanwhile. Needs the right to admin and a token that is bound to no owner.
         */
        post: operations["reindex"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/purge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Purge
         * @description Destroy forgotten memories for good. There is no way back. Needs the right to admin. It takes no `Idempotency-Key`.
         */
        post: operations["purge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/purge-forgotten": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Purge all that was forgotten
         * @description Destroy for good what was forgotten before a time, of every owner. There is no way back. Needs the right to admin and a token that is bound to no owner. It takes no `Idempotency-Key`.
         */
        post: operations["purge_forgotten"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Import
         * @description Bring in the official memory server's JSONL, or a full export of ours, as `recollect import` does. The full one goes to the owners that it names. Bringing in the same again changes nothing. Needs the right to admin and a token that is bound to no owner.
         */
        post: operations["import_text"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Export
         * @description What this owner's memory holds, page by page, as `import_text` takes it: `full` is everything, forgotten things too; `official` is the graph as the official memory server has it. What is written meanwhile may be on a later page. Needs the right to read.
         */
        get: operations["export"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/upkeep/migrate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Migrate
         * @description Bring in the JSONL file of the official memory server, as `recollect import` does. Running it again changes nothing. Needs the right to admin and a token that is bound to no owner.
         */
        post: operations["migrate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/server/latencies": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Latencies
         * @description How long the calls of this server took, minute by minute over the last day, the newest first. Minutes without calls are left out. Needs the right to read.
         */
        get: operations["latencies"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List tokens
         * @description Who may use this store over HTTP, by name. The tokens themselves are kept nowhere. Needs the right to admin and a token that is bound to no owner.
         */
        get: operations["list_tokens"];
        put?: never;
        /**
         * Create a token
         * @description Let somebody use this store over HTTP. The answer has the token, which nobody can show again. Needs the right to admin and a token that is bound to no owner. It takes no `Idempotency-Key`.
         */
        post: operations["create_token"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tokens/{name}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke a token
         * @description Let nobody in by this token any more; servers notice within a second or two. Needs the right to admin and a token that is bound to no owner. It takes no `Idempotency-Key`.
         */
        delete: operations["revoke_token"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the process lives */
        get: operations["live"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the store opens and answers */
        get: operations["ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Counts and latencies for Prometheus */
        get: operations["metrics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AddMessagesOutput: {
            session: string;
            ids: number[];
            notes: components["schemas"]["NoteRow"][];
            note?: string;
            /** @description With `keep_going`: the rows that were left out */
            rejected?: components["schemas"]["LeftOutRow"][];
        };
        /**
         * @example {
         *       "messages": [
         *         {
         *           "role": "user",
         *           "content": "I have moved to Faro."
         *         }
         *       ]
         *     }
         */
        AddMessagesRequest: {
            messages: components["schemas"]["MessageRow"][];
            /** @description Also draw notes out of them; true if not given */
            extract?: boolean | null;
            /** @description Leave out the rows that cannot be stored, and name them in `rejected`; otherwise one such row stops them all */
            keep_going?: boolean | null;
        };
        AddObservationsOutput: {
            note?: string;
            results: components["schemas"]["AddedRow"][];
            /** @description With `keep_going`: the rows that were left out */
            rejected?: components["schemas"]["LeftOutRow"][];
        };
        /**
         * @example {
         *       "observations": [
         *         {
         *           "entityName": "Ines",
         *           "contents": [
         *             "Drinks oolong"
         *           ]
         *         }
         *       ]
         *     }
         */
        AddObservationsRequest: {
            observations: components["schemas"]["AdditionRow"][];
            /** @description Leave out the rows that cannot be stored, and name them in `rejected`; otherwise one such row stops them all */
            keep_going?: boolean | null;
        };
        AddReflectionOutput: {
            id: number;
            created: boolean;
            mentions: string[];
            similar?: components["schemas"]["SimilarRow"];
            contradicts?: components["schemas"]["ConflictRow"][];
        };
        /**
         * @example {
         *       "content": "Ask for the date before booking",
         *       "mood": "insight"
         *     }
         */
        AddReflectionRequest: {
            content: string;
            /** @description Names of the entities it is about */
            about?: string[] | null;
            /** @description Whose thought it is */
            author?: string | null;
            /** @description Such as frustration, satisfaction, curiosity, doubt, insight */
            mood?: string | null;
            /** @description The conversation that it is about */
            session?: string | null;
            /** @description The relation that it is about */
            relation?: components["schemas"]["RelationKey"] | null;
        };
        AddedRow: {
            entityName: string;
            addedObservations: string[];
        };
        AdditionRow: {
            entityName: string;
            contents: (string | components["schemas"]["CorrectionRow"])[];
        };
        AdviceRow: {
            said: string;
            command: string;
        };
        AnalysisRow: {
            entity_name: string;
            entity_type: string;
            observation_count: number;
            /** @description Observations from which this type counts as oversized */
            threshold: number;
            needs_split: boolean;
            topics?: components["schemas"]["TopicRow"][];
            split_score: number;
        };
        AnalyzeSplitOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            analysis: components["schemas"]["AnalysisRow"];
        };
        AnalyzeTuningOutput: {
            profile: string;
            against: string;
            events: number;
            treated: number;
            with_feedback: number;
            /** @description null: nothing was used or judged yet */
            ours: components["schemas"]["MeasuresRow"] | null;
            baseline: components["schemas"]["MeasuresRow"] | null;
            /** @description NDCG@10 of the profile less that of the baseline */
            gain: number | null;
            numbers: components["schemas"]["ProfileNumbersRow"];
            log: components["schemas"]["LogRow"];
        };
        AnswerRow: {
            id: number;
            at: string;
            /** @description By which `feedback` knows it */
            event: string;
            session: string;
            query: string;
            profile: string;
            /** @description Of the tuned numbers; 0: as published */
            version: number;
            /** @description ours: the profile was shown; baseline: what it is compared with */
            arm: string;
            against: string;
            shown: number[];
            /** @description As the profile ranked */
            ranked: number[];
            /** @description As what it is compared with would have */
            baseline: number[];
            feedback: components["schemas"]["FeedbackRow"][];
        };
        BackupOutput: {
            backup: components["schemas"]["BackupRow"];
        };
        BackupRequest: Record<string, never>;
        BackupRow: {
            name: string;
            bytes: number;
            at: string;
        };
        BadLineRow: {
            line: number;
            reason: string;
        };
        BranchRow: {
            name: string;
            /** @description Its place among the first ten thousand */
            rank: number | null;
            score: number | null;
            /** @description How many of its list the profile takes */
            taken: number;
            /** @description Whether it brought the memory up as a candidate */
            reached: boolean;
        };
        BriefRow: {
            id: number;
            kind: components["schemas"]["Kind"];
            name: string;
            text: string;
            speaker: string | null;
            created_at: string;
            superseded_at: string | null;
            deleted_at: string | null;
        };
        BrowseOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            memories: components["schemas"]["MemoryFields"][];
        };
        BucketRow: {
            start: string;
            /** @description The first moment after it */
            stop: string;
            count: number;
        };
        ChangedNumberRow: {
            name: string;
            before: number | null;
            /** @description null: the profile takes it no longer */
            after: number | null;
        };
        CheckRow: {
            check: string;
            /** @description ok, note or problem */
            state: string;
            said: string;
            advice: string;
        };
        ClearSessionOutput: {
            session: string;
            /** @description Messages, and notes drawn out of them */
            forgotten: number;
        };
        ComparisonRow: {
            name: string;
            better: number;
            worse: number;
            p: number;
            is_better: boolean;
        };
        ConfidenceBinRow: {
            low: number;
            high: number;
            count: number;
            /** @description The mean confidence of these hits */
            stated: number;
            /** @description The share of them that proved right */
            found: number;
        };
        ConfidenceCurveOutput: {
            /** @description feedback; or self-test, where there is too little of it */
            judged_by: string;
            pairs: number;
            /** @description The mean distance between stated and found */
            error: number;
            bins: components["schemas"]["ConfidenceBinRow"][];
        };
        ConflictRow: {
            id: number;
            text: string;
            /** @description It is the later one, so that it counts */
            is_newer: boolean;
            at?: string;
        };
        ContextOutput: {
            text: string;
            memories: number[];
            tokens: number;
            left_out: number;
        };
        /**
         * @example {
         *       "query": "Plan a tea evening for Ines",
         *       "budget_tokens": 600
         *     }
         */
        ContextRequest: {
            query?: string | null;
            messages?: components["schemas"]["MessageRow"][] | null;
            /** @description Whose recent turns to include */
            session?: string | null;
            /** @description 1000 if not given */
            budget_tokens?: number | null;
        };
        CorrectionRow: {
            content: string;
            kind?: string;
            /** @description The exact text that it corrects */
            supersedes?: string;
        };
        CostRow: {
            step: string;
            value: number;
            place_without: number;
            /** @description How many places it cost; negative where it won some */
            places: number;
        };
        CountsRow: {
            entities: number;
            notes: number;
            messages: number;
            observations: number;
            relations: number;
            forgotten: number;
            passages: number;
            vectors: number;
            /** @description Passages that wait for a vector */
            due: number;
            scopes: number;
            bytes: number;
            schema: number;
        };
        CreateEntitiesOutput: {
            note?: string;
            entities: components["schemas"]["EntityRow"][];
            /** @description With `keep_going`: the rows that were left out */
            rejected?: components["schemas"]["LeftOutRow"][];
        };
        /**
         * @example {
         *       "entities": [
         *         {
         *           "name": "Ines",
         *           "entityType": "person",
         *           "observations": [
         *             "Keeps bees in Faro"
         *           ]
         *         }
         *       ]
         *     }
         */
        CreateEntitiesRequest: {
            entities: components["schemas"]["NewEntityRow"][];
            /** @description Leave out the rows that cannot be stored, and name them in `rejected`; otherwise one such row stops them all */
            keep_going?: boolean | null;
        };
        CreateRelationsOutput: {
            note?: string;
            relations: components["schemas"]["RelationRow"][];
            /** @description With `keep_going`: the rows that were left out */
            rejected?: components["schemas"]["LeftOutRow"][];
        };
        /**
         * @example {
         *       "relations": [
         *         {
         *           "from": "Ines",
         *           "to": "Tidebook",
         *           "relationType": "works_at"
         *         }
         *       ]
         *     }
         */
        CreateRelationsRequest: {
            relations: components["schemas"]["NewRelationRow"][];
            /** @description Leave out the rows that cannot be stored, and name them in `rejected`; otherwise one such row stops them all */
            keep_going?: boolean | null;
        };
        CreateTokenOutput: {
            name: string;
            /** @description Shown this once; it is kept only as its hash */
            token: string;
        };
        CreateTokenRequest: {
            /** @description Up to 64 letters of ASCII, digits, dots, dashes and underscores */
            name: string;
            /** @description "write" if not given */
            right?: ("read" | "write" | "admin") | null;
            /** @description The only owner that its holder sees; every owner if not given */
            owner?: string | null;
            /** @description Of that owner, the only agent; all of them if not given */
            agent?: string | null;
        };
        DeleteEntitiesRequest: {
            entityNames: string[];
        };
        DeleteObservationsRequest: {
            deletions: components["schemas"]["DeletionRow"][];
        };
        DeleteRelationsRequest: {
            relations: components["schemas"]["RelationKey"][];
        };
        DeletionRow: {
            entityName: string;
            observations: string[];
        };
        DoctorOutput: {
            checks: components["schemas"]["CheckRow"][];
        };
        Done: {
            success: boolean;
            message: string;
        };
        DreamChangeRow: {
            /** @description A field such as strength; or pruned, merged, corrected, link, and so on of observations */
            what: string;
            /** @description The memory; of an observation, the observation */
            id: number;
            text: string;
            before: string | number | null;
            after: string | number | null;
            /** @description What it lives on in, is corrected by, or is linked to */
            other: number | null;
        };
        DreamGateRow: {
            questions: number;
            /** @description Those of them that nobody asked: made of memories' own words */
            made: number;
            before: number;
            after: number;
            blame: string | null;
            /** @description What was found before, and would not be found after */
            losses: components["schemas"]["LossRow"][];
        };
        DreamOutput: {
            memories: number;
            answers: number;
            stronger: number;
            faded: number;
            stabler: number;
            consolidated: number;
            archived: number;
            pruned: number;
            merged: number;
            corrected: number;
            linked: number;
            /** @description The dream's number, if anything was written */
            id: number | null;
            gate: components["schemas"]["GateRow"] | null;
        };
        /**
         * @example {
         *       "dry_run": true
         *     }
         */
        DreamRequest: {
            /** @description Only tell what it would do; false if not given */
            dry_run?: boolean | null;
            /** @description Phases to leave out, such as prune or merge */
            without?: string[] | null;
        };
        DreamRow: {
            id: number;
            at: string;
            undone_at: string | null;
            phases: string[];
            skipped: string[];
            memories: number;
            answers: number;
            stronger: number;
            faded: number;
            stabler: number;
            consolidated: number;
            archived: number;
            revived: number;
            pruned: number;
            merged: number;
            corrected: number;
            linked: number;
            temper: number;
            gate: components["schemas"]["DreamGateRow"] | null;
        };
        DroppedRow: {
            step: string;
            reason: string;
            score: number;
        };
        EmptyLogOutput: {
            /** @description How many the log held */
            answers: number;
        };
        EmptyLogRequest: Record<string, never>;
        /**
         * @example {
         *       "from": "Ines",
         *       "to": "Tidebook",
         *       "relationType": "works_at"
         *     }
         */
        EndRelationRequest: {
            from: string;
            to: string;
            relationType: string;
            at?: string | null;
        };
        EntityCountsRow: {
            id: number;
            name: string;
            type: string;
            status: string;
            observations: number;
            relations: number;
            mentions: number;
            created_at: string;
            updated_at: string;
        };
        EntityRow: {
            name: string;
            entityType: string;
            /** @description The text of each, or an object where it has a kind or was corrected */
            observations: (string | components["schemas"]["ObservationRow"])[];
            /** @description Where it is not active */
            status?: string;
        };
        EventRow: {
            at: string;
            what: string;
            detail: string;
        };
        ExecuteEntitySplitRequest: {
            /** @description The new entities, as proposed or changed */
            approved_splits: components["schemas"]["PartRow"][];
        };
        ExecuteSplitOutput: {
            new_entities: string[];
            moved_observations: number;
            original_observations_remaining: number;
            undo: components["schemas"]["UndoRow"];
        };
        ExplainOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            profile: string;
            hits: components["schemas"]["ExplainedRow"][];
            left_out: number;
        };
        /**
         * @example {
         *       "query": "What tea does Ines drink?"
         *     }
         */
        ExplainRequest: {
            query: string;
            /** @description recollect if not given, limbic, mnemosyne, reverie or cognis */
            profile?: string | null;
            limit?: number | null;
            cursor?: string | null;
            budget_tokens?: number | null;
        };
        ExplainedRow: {
            id: number;
            kind: components["schemas"]["Kind"];
            text: string;
            score: number;
            confidence?: number;
            at?: string | null;
            name?: string;
            speaker?: string;
            session?: string;
            source?: string;
            category?: string;
            tags?: string[];
            /** @description Where it is not active */
            status?: string;
            superseded_by?: number;
            expires_at?: string;
            /** @description Memories in force that it seems to contradict */
            conflicts_with?: components["schemas"]["ConflictRow"][];
            /** @description What its observations said before they were corrected */
            superseded?: string[];
            explanation: components["schemas"]["StepRow"][];
        };
        ExportOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            /** @description Lines of JSON; those of all pages, one after another, are the file */
            lines: string[];
        };
        FadingRow: {
            id: number;
            kind: components["schemas"]["Kind"];
            text: string;
            /** @description A dream prunes it then if another memory says the same */
            prunable_in_days: number | null;
            archived_in_days: number | null;
            /** @description At the end */
            strength: number;
            /** @description How much of it is left at the end, by its stability */
            retrievable: number;
        };
        FeedbackOutput: {
            noted: number[];
        };
        /**
         * @example {
         *       "ids": [
         *         1
         *       ],
         *       "helpful": true,
         *       "query": "What tea does Ines drink?"
         *     }
         */
        FeedbackRequest: {
            /** @description Their ids, as `recall` gives them */
            ids?: number[] | null;
            /** @description Names of entities, as `search_semantic` gives them */
            names?: string[] | null;
            /** @description True: it helped; false: it was wrong or beside the point */
            helpful: boolean;
            /** @description For which question; without it, the last that showed them */
            query?: string | null;
        };
        FeedbackRow: {
            id: number;
            /** @description opened, recalled, or said by somebody */
            kind: string;
            /** @description From -1, wrong, to 1, just right */
            grade: number;
        };
        FindDuplicatesOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            duplicates: components["schemas"]["PairRow"][];
            /** @description Pairs after these */
            left_out: number;
        };
        FlaggedNoteRow: {
            id: number;
            text: string;
            similar_to: number;
            similar: string;
        };
        FlaggedObservationRow: {
            entity: string;
            observation: string;
            similar: string;
        };
        ForecastDayRow: {
            date: string;
            mean_strength: number;
            /** @description By the end of this day */
            prunable: number;
            archived: number;
        };
        ForecastOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            days: number;
            memories: number;
            /** @description Pinned or marked as important: these do not fade */
            kept: number;
            /** @description Those that fade first */
            fading: components["schemas"]["FadingRow"][];
            /** @description Memories that fade, on all pages */
            total: number;
            by_day: components["schemas"]["ForecastDayRow"][];
        };
        /**
         * @example {
         *       "query": "old addresses"
         *     }
         */
        ForgetManyRequest: {
            ids?: number[] | null;
            query?: string | null;
        };
        ForgetOutput: {
            forgotten: number[];
            /** @description What a query finds; nothing of it is forgotten yet */
            would_forget?: components["schemas"]["ForgettableRow"][];
            note?: string;
        };
        ForgettableRow: {
            id: number;
            kind: components["schemas"]["Kind"];
            text: string;
        };
        GateRow: {
            questions: number;
            before: number;
            after: number;
            blame: string | null;
        };
        GetAnswerOutput: {
            answer: components["schemas"]["AnswerRow"];
            memories: components["schemas"]["RankedRow"][];
        };
        GetDreamOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            dream: components["schemas"]["DreamRow"];
            changes: components["schemas"]["DreamChangeRow"][];
            /** @description Changes on all pages */
            total: number;
        };
        GetMemoryOutput: {
            memory: components["schemas"]["MemoryFields"];
            versions: components["schemas"]["VersionRow"][];
            events: components["schemas"]["EventRow"][];
            supersedes: components["schemas"]["BriefRow"][];
            superseded_by: components["schemas"]["BriefRow"] | null;
            mentions: components["schemas"]["BriefRow"][];
            relations: components["schemas"]["SpanRow"][];
            drawn: components["schemas"]["BriefRow"][];
            neighbours: components["schemas"]["BriefRow"][];
            similar: components["schemas"]["SimilarRow"][];
            conflicts: components["schemas"]["ConflictRow"][];
            links: components["schemas"]["LinkRow"][];
            usage: components["schemas"]["UsageRow"];
            showings: components["schemas"]["ShowingRow"][];
        };
        GoneObservationRow: {
            id: number;
            text: string;
            /** @description What it would live on in, or be corrected by */
            into: number;
            into_text: string;
            entity: number;
        };
        GoneRow: {
            id: number;
            text: string;
            /** @description What it would live on in, or be corrected by */
            into: number;
            into_text: string;
        };
        GraphRows: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            entities: components["schemas"]["EntityRow"][];
            relations: components["schemas"]["RelationRow"][];
        };
        HistoryOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            id: number;
            events: components["schemas"]["EventRow"][];
        };
        HitRow: {
            id: number;
            kind: components["schemas"]["Kind"];
            text: string;
            score: number;
            confidence?: number;
            at?: string | null;
            name?: string;
            speaker?: string;
            session?: string;
            source?: string;
            category?: string;
            tags?: string[];
            /** @description Where it is not active */
            status?: string;
            superseded_by?: number;
            expires_at?: string;
            /** @description Memories in force that it seems to contradict */
            conflicts_with?: components["schemas"]["ConflictRow"][];
            /** @description What its observations said before they were corrected */
            superseded?: string[];
        };
        ImportFoundRow: {
            entities: number;
            observations: number;
            /** @description Notes and messages */
            texts: number;
            relations: number;
            forgotten: number;
            /** @description Whose memories a full export holds; the empty name: nobody's */
            owners: string[];
        };
        ImportTextOutput: {
            format: string;
            lines: number;
            entities_created: number;
            entities_merged: number;
            observations_added: number;
            texts_created: number;
            texts_known: number;
            relations_created: number;
            relations_known: number;
            embedded: number;
            bad_count: number;
            bad_lines: components["schemas"]["BadLineRow"][];
            note: string | null;
            /** @description With `dry_run`, what the lines hold */
            found: components["schemas"]["ImportFoundRow"] | null;
        };
        ImportTextRequest: {
            /** @description The file's lines, each a JSON object */
            jsonl: string;
            /** @description "auto" if not given */
            format?: ("auto" | "official" | "full") | null;
            /** @description Leave out lines that cannot be read, and name them; true if not given */
            keep_going?: boolean | null;
            /** @description Only tell what the lines hold; nothing is written; false if not given */
            dry_run?: boolean | null;
        };
        /** @enum {string} */
        Kind: "entity" | "note" | "message";
        KindRow: {
            content: string;
            kind?: string;
        };
        KindShareRow: {
            asked: number;
            found: number;
            recall: number;
            low: number;
            high: number;
            mrr: number;
            kind: string;
        };
        LargeRow: {
            name: string;
            observations: number;
            limit: number;
        };
        LatenciesOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            minutes: components["schemas"]["LatencyRow"][];
        };
        LatencyRow: {
            /** @description When it began */
            minute: string;
            operation: string;
            calls: number;
            /** @description Seconds */
            median: number;
            /** @description Seconds */
            p95: number;
        };
        LeaseRow: {
            name: string;
            holder: string;
            until: string;
            holder_is_gone: boolean;
        };
        LeftOutRow: {
            /** @description Its place in the batch, from 0 */
            index: number;
            reason: string;
        };
        LinkRow: {
            memory: components["schemas"]["BriefRow"];
            answers: number;
        };
        LinkedRow: {
            id: number;
            text: string;
            other: number;
            other_text: string;
            /** @description In how many both stood */
            answers: number;
        };
        ListAnswersOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            answers: components["schemas"]["AnswerRow"][];
        };
        ListDreamsOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            dreams: components["schemas"]["DreamRow"][];
        };
        ListEntitiesOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            entities: components["schemas"]["EntityCountsRow"][];
        };
        ListMemoriesOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            memories: components["schemas"]["ListedRow"][];
        };
        ListSessionsOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            sessions: components["schemas"]["SessionRow"][];
            total: number;
        };
        ListTokensOutput: {
            tokens: components["schemas"]["TokenRow"][];
        };
        ListedRow: {
            id: number;
            kind: components["schemas"]["Kind"];
            text: string;
            at?: string;
            name?: string;
            speaker?: string;
            session?: string;
            category?: string;
            tags?: string[];
            status?: string;
            superseded_by?: number;
            expires_at?: string;
        };
        LogRow: {
            on: boolean;
            /** @description off, or split: each query gets one ranking or the other */
            design: string;
            against: string;
            share: number;
            sizes: components["schemas"]["LogSizeRow"][];
        };
        LogSizeRow: {
            profile: string;
            events: number;
            treated: number;
            judged: number;
        };
        LossRow: {
            query: string;
            memory: number;
            text: string;
            phase: string;
        };
        MeasuresRow: {
            events: number;
            ndcg_5: number;
            ndcg_10: number;
            lift_5: number;
            lift_10: number;
        };
        MemoryFields: {
            id: number;
            kind: components["schemas"]["Kind"];
            owner: string;
            agent: string;
            name: string;
            type: string;
            text: string;
            category: string | null;
            source: string | null;
            session: string | null;
            position: number | null;
            role: string | null;
            speaker: string | null;
            undated: boolean;
            drawn_from: number | null;
            tags: string[];
            status: string;
            importance: number;
            importance_tag: string | null;
            pinned: boolean;
            consolidation: string;
            strength: number;
            depth: number;
            spread: number;
            stability: number;
            revisions: number;
            duplicates: number;
            created_at: string;
            updated_at: string;
            happened_at: string | null;
            expires_at: string | null;
            superseded_by: number | null;
            superseded_at: string | null;
            deleted_at: string | null;
            similar_to: number | null;
            similarity: number | null;
            observations: components["schemas"]["ObservedRow"][];
        };
        MessageRow: {
            role?: string;
            speaker?: string;
            content: string;
            /**
             * Format: date-time
             * @description ISO 8601
             */
            at?: string;
        };
        MigrateOutput: {
            /** @description Created */
            entities: number;
            /** @description Added */
            observations: number;
            /** @description Created */
            relations: number;
            /** @description Entities that were there already */
            known: number;
            /** @description The first of the lines that could not be read */
            bad_lines: number[];
            note?: string;
        };
        MigrateRequest: {
            /** @description A file on the server's machine */
            source_path: string;
        };
        MissedRow: {
            id: number;
            kind: components["schemas"]["Kind"];
            text: string;
            query: string;
            first: number | null;
            first_text: string;
            place: number | null;
            cause: string;
            why: string;
        };
        ModelRow: {
            name: string;
            dims: number;
        };
        MovedRow: {
            id: number;
            text: string;
            before: number;
            after: number;
        };
        NameRow: {
            name: string;
            count: number;
        };
        NamesOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            names: components["schemas"]["NameRow"][];
            /** @description How many there are on all pages */
            total: number;
        };
        NeighbourRow: {
            name: string;
            entityType: string;
            /** @description How many relations lie between */
            distance: number;
        };
        NeighboursOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            neighbours: components["schemas"]["NeighbourRow"][];
        };
        NewEntityRow: {
            name: string;
            entityType: string;
            /** @description One fact each */
            observations: (string | components["schemas"]["KindRow"])[];
            /** @description active, paused, completed or archived */
            status?: string;
        };
        NewNoteRow: {
            text: string;
            category?: string;
            importance?: number;
            /**
             * Format: date-time
             * @description ISO 8601
             */
            happened_at?: string;
            /** Format: date-time */
            expires_at?: string;
            tags?: string[];
            about?: string[];
            source?: string;
        };
        NewRelationRow: {
            from: string;
            to: string;
            relationType: string;
            context?: string;
            /** Format: date-time */
            since?: string;
            /** Format: date-time */
            until?: string;
        };
        NoteRow: {
            id: number;
            text: string;
        };
        ObservationRow: {
            content: string;
            kind?: string;
            /** @description It was corrected then */
            superseded_at?: string;
        };
        ObservedRow: {
            id: number;
            content: string;
            kind: string;
            created_at: string;
            happened_at: string | null;
            superseded_by: number | null;
            superseded_at: string | null;
            similar_to: number | null;
            similarity: number | null;
            corrected_by: number | null;
            deleted_at: string | null;
        };
        OpenContradictionRow: {
            older: number;
            older_text: string;
            newer: number;
            newer_text: string;
            /** @description The command that retires the older one */
            command: string;
        };
        /**
         * @example {
         *       "names": [
         *         "Ines"
         *       ]
         *     }
         */
        OpenNodesRequest: {
            names: string[];
            kinds?: string[] | null;
            /** @description false if not given */
            include_superseded?: boolean | null;
            limit?: number | null;
            cursor?: string | null;
            budget_tokens?: number | null;
        };
        PairRow: {
            entity: string;
            older: string;
            newer: string;
            similarity: number;
            match: string;
        };
        PartRow: {
            /** @description The new entity's name */
            name: string;
            /** @description Its type; that of the original if not given */
            entity_type?: string;
            /** @description The exact texts to move */
            observations: string[];
        };
        PathRow: {
            length: number;
            relations: components["schemas"]["RelationRow"][];
        };
        PathsOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            paths: components["schemas"]["PathRow"][];
        };
        PreviewDreamOutput: {
            phases: string[];
            memories: number;
            answers: number;
            stronger: number;
            /** @description Those that would gain the most strength */
            strongest: components["schemas"]["MovedRow"][];
            faded: number;
            /** @description Those that would lose the most */
            weakest: components["schemas"]["MovedRow"][];
            stabler: number;
            /** @description Days until a tenth of it is forgotten */
            stablest: components["schemas"]["MovedRow"][];
            deeper: components["schemas"]["MovedRow"][];
            consolidated: number;
            archived: number;
            revived: number;
            merged: components["schemas"]["GoneRow"][];
            merged_observations: components["schemas"]["GoneObservationRow"][];
            corrected: components["schemas"]["GoneRow"][];
            pruned: components["schemas"]["NoteRow"][];
            linked: components["schemas"]["LinkedRow"][];
            /** @description How many there are of what is listed only in part */
            totals: {
                [key: string]: number;
            };
            gate: components["schemas"]["DreamGateRow"] | null;
        };
        PreviewDreamRequest: {
            /** @description Phases to leave out, such as prune or merge */
            without?: string[] | null;
            /** @description Rows of each list; 50 if not given */
            limit?: number | null;
        };
        ProblemRow: {
            what: string;
            where: string;
            repairable: boolean;
        };
        ProfileNumbersRow: {
            profile: string;
            /** @description 0: it was never tuned */
            version: number;
            numbers: components["schemas"]["TunableNumberRow"][];
            note: string | null;
        };
        ProfileResultRow: {
            name: string;
            overall: components["schemas"]["ShareRow"];
            by_kind: components["schemas"]["KindShareRow"][];
            p50_ms: number | null;
            p95_ms: number | null;
        };
        ProposeSplitOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            suggested_splits: components["schemas"]["PartRow"][];
            analysis: components["schemas"]["AnalysisRow"];
        };
        PurgeForgottenRequest: {
            /**
             * Format: date-time
             * @description What was forgotten before this
             */
            before: string;
        };
        PurgeOutput: {
            purged: number;
            note?: string;
        };
        PurgeRequest: {
            /** @description Forgotten memories of this owner */
            ids: number[];
        };
        RankedRow: {
            id: number;
            /** @description As it reads now; empty where it was purged */
            text: string;
            in_force: boolean;
            shown: number | null;
            ranked: number | null;
            baseline: number | null;
        };
        RecallOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            hits: components["schemas"]["HitRow"][];
            /** @description Hits that did not fit the budget */
            left_out: number;
            /** @enum {string} */
            answer: "likely" | "possible" | "unlikely";
        };
        /**
         * @example {
         *       "query": "What tea does Ines drink?",
         *       "limit": 5
         *     }
         */
        RecallRequest: {
            /** @description What you want to know, as a question */
            query: string;
            kinds?: components["schemas"]["Kind"][] | null;
            tags?: string[] | null;
            /** @description Answer as the memory stood then */
            as_of?: string | null;
            /** @description Of messages, only those of this session */
            session?: string | null;
            /** @description false if not given */
            include_superseded?: boolean | null;
            /** @description recollect if not given, limbic, mnemosyne, reverie or cognis */
            profile?: string | null;
            min_confidence?: number | null;
            /** @description Those worth reading, at most 10, if not given */
            limit?: number | null;
            cursor?: string | null;
            budget_tokens?: number | null;
        };
        ReflectionRow: {
            id: number;
            kind: components["schemas"]["Kind"];
            text: string;
            score: number;
            confidence?: number;
            at?: string | null;
            name?: string;
            speaker?: string;
            session?: string;
            source?: string;
            category?: string;
            tags?: string[];
            /** @description Where it is not active */
            status?: string;
            superseded_by?: number;
            expires_at?: string;
            /** @description Memories in force that it seems to contradict */
            conflicts_with?: components["schemas"]["ConflictRow"][];
            /** @description What its observations said before they were corrected */
            superseded?: string[];
            author: string | null;
            mood: string | null;
            /** @description The relation that it is about */
            relation?: string;
        };
        ReindexOutput: {
            model: components["schemas"]["ModelRow"];
            embedded: number;
            switched: boolean;
        };
        ReindexRequest: {
            /** @description Another model to switch to; everything is embedded anew then */
            model?: string | null;
        };
        RelationKey: {
            from: string;
            to: string;
            relationType: string;
        };
        RelationRow: {
            from: string;
            to: string;
            relationType: string;
            context?: string;
            since?: string;
            until?: string;
        };
        RememberManyOutput: {
            notes: components["schemas"]["RememberOutput"][];
            rejected: components["schemas"]["LeftOutRow"][];
            note?: string;
        };
        RememberManyRequest: {
            notes: components["schemas"]["NewNoteRow"][];
            /** @description Leave out what cannot be stored, and name it; false if not given */
            keep_going?: boolean | null;
        };
        RememberOutput: {
            id: number;
            /** @description False: it was known, and its count went up */
            created: boolean;
            mentions: string[];
            similar?: components["schemas"]["SimilarRow"];
            /** @description Notes in force that it seems to contradict */
            contradicts?: components["schemas"]["ConflictRow"][];
            retired?: number[];
            /** @description What its language means for the model that finds it */
            note?: string;
        };
        /**
         * @example {
         *       "text": "Ines drinks oolong in the evening",
         *       "category": "preferences",
         *       "tags": [
         *         "tea"
         *       ]
         *     }
         */
        RememberRequest: {
            text: string;
            /** @description Such as preferences, work_career */
            category?: string | null;
            importance?: number | null;
            happened_at?: string | null;
            tags?: string[] | null;
            /** @description Names of entities that exist */
            about?: string[] | null;
            source?: string | null;
            supersedes?: number | null;
            expires_at?: string | null;
        };
        ReplayAnswerOutput: {
            answer: components["schemas"]["AnswerRow"];
            /** @description By the best place that each has anywhere */
            memories: components["schemas"]["ReplayedRow"][];
            /** @description Whether the profile ranks now as it did then */
            same: boolean;
        };
        ReplayedRow: {
            id: number;
            /** @description As it reads now; empty where it was purged */
            text: string;
            in_force: boolean;
            shown: number | null;
            ranked: number | null;
            baseline: number | null;
            /** @description By the profile, with its present numbers */
            now: number | null;
            baseline_now: number | null;
        };
        ReportOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            summary: components["schemas"]["SummaryRow"];
            found: components["schemas"]["SectionCounts"];
            contradictions: components["schemas"]["OpenContradictionRow"][];
            split_candidates: components["schemas"]["AnalysisRow"][];
            flagged_observations: components["schemas"]["FlaggedObservationRow"][];
            flagged_notes: components["schemas"]["FlaggedNoteRow"][];
            stale_entities: components["schemas"]["StaleRow"][];
            large_entities: components["schemas"]["LargeRow"][];
        };
        ResetNumbersRequest: {
            profile?: string | null;
            /** @description Only tell what it would do; false if not given */
            dry_run?: boolean | null;
        };
        RestoreOutput: {
            id: number;
        };
        RestoreRequest: Record<string, never>;
        RetiredRow: {
            id: number;
            text: string;
            observation: number | null;
        };
        RevokeTokenOutput: {
            revoked: string;
        };
        RollbackTuningRequest: {
            /** @description Those before the last if not given */
            version?: number | null;
            profile?: string | null;
            /** @description Only tell what it would do; false if not given */
            dry_run?: boolean | null;
        };
        RunTuningRequest: {
            profile?: string | null;
            /** @description Only tell what it would do; true if not given */
            dry_run?: boolean | null;
        };
        ScoringRow: {
            importance: number;
            temporal_factor: number;
            cooc_boost: number;
        };
        SearchReflectionsOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            results: components["schemas"]["ReflectionRow"][];
            left_out: number;
        };
        /**
         * @example {
         *       "query": "booking"
         *     }
         */
        SearchReflectionsRequest: {
            query: string;
            author?: string | null;
            mood?: string | null;
            /** @description An entity's name */
            about?: string | null;
            /** @description Only those about this conversation */
            session?: string | null;
            /** @description Only those about this relation */
            relation?: components["schemas"]["RelationKey"] | null;
            limit?: number | null;
            cursor?: string | null;
            budget_tokens?: number | null;
        };
        SearchSemanticOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            results: components["schemas"]["SemanticRow"][];
        };
        /**
         * @example {
         *       "query": "beekeepers"
         *     }
         */
        SearchSemanticRequest: {
            query: string;
            limit?: number | null;
            cursor?: string | null;
            budget_tokens?: number | null;
        };
        SectionCounts: {
            contradictions: number;
            split_candidates: number;
            flagged_observations: number;
            flagged_notes: number;
            stale_entities: number;
            large_entities: number;
        };
        SelfTestOutput: {
            at: string;
            seed: number;
            limit: number;
            model: string | null;
            note: string | null;
            memories: number;
            sampled: number;
            default: string;
            profiles: components["schemas"]["ProfileResultRow"][];
            compared: components["schemas"]["ComparisonRow"][];
            missed: components["schemas"]["MissedRow"][];
            advice: components["schemas"]["AdviceRow"][];
        };
        SelfTestRequest: {
            /** @description All if not given */
            profiles?: string[] | null;
            /** @description Memories to ask for; 50 if not given */
            sample?: number | null;
            /** @description Hits that count; 5 if not given */
            limit?: number | null;
            /** @description Another one asks for other memories; 0 if not given */
            seed?: number | null;
        };
        SemanticRow: {
            name: string;
            entityType: string;
            observations: string[];
            distance?: number | null;
            limbic_score: number;
            scoring?: components["schemas"]["ScoringRow"];
            routing_strategy?: string | null;
            score: number;
            mode?: string;
            rrf_score?: number;
        };
        SessionMessagesOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            session: string;
            messages: components["schemas"]["MemoryFields"][];
        };
        SessionRow: {
            name: string;
            turns: number;
            first_at: string;
            last_at: string;
            speakers: string[];
        };
        SetNumberRow: {
            name: string;
            value: number;
        };
        SetNumbersRequest: {
            numbers: components["schemas"]["SetNumberRow"][];
            profile?: string | null;
            /** @description Not only a tenth of the way; false if not given */
            exactly?: boolean | null;
            /** @description Only tell what it would do; false if not given */
            dry_run?: boolean | null;
        };
        /**
         * @example {
         *       "status": "paused"
         *     }
         */
        SetStatusRequest: {
            /** @description active, paused, completed or archived */
            status: string;
        };
        SettleOutput: {
            /** @description For `undo_settling` */
            undo: components["schemas"]["SettleUndoRow"];
        };
        SettleRequest: {
            key: string;
            /** @enum {string} */
            action: "supersede_older" | "forget_older" | "forget_newer" | "remove_older" | "remove_newer" | "split" | "archive" | "forget" | "keep";
        };
        SettleUndoRow: {
            key: string;
            /** @enum {string} */
            action: "supersede_older" | "forget_older" | "forget_newer" | "remove_older" | "remove_newer" | "split" | "archive" | "forget" | "keep";
            memories: number[];
            observations: number[];
            /** @description What an archived entity was before */
            status?: string;
            split?: components["schemas"]["UndoRow"];
        };
        ShareRow: {
            asked: number;
            found: number;
            recall: number;
            low: number;
            high: number;
            mrr: number;
        };
        ShowingRow: {
            at: string;
            place: number;
            query: string | null;
            profile: string | null;
            answer: number | null;
        };
        SideRow: {
            id: number;
            observation: number | null;
            name: string;
            text: string;
            at: string | null;
        };
        SimilarRow: {
            id: number;
            text: string;
            similarity: number;
        };
        SpanRow: {
            id: number;
            source: number;
            target: number;
            source_name: string;
            target_name: string;
            type: string;
            context: string;
            since: string | null;
            until: string | null;
            created_at: string;
            deleted_at: string | null;
        };
        SplitCandidatesOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            candidates: components["schemas"]["AnalysisRow"][];
        };
        StaleRow: {
            name: string;
            type: string;
        };
        StandingRow: {
            /** @description Among all candidates; none where a step dropped it */
            place: number | null;
            score: number;
            /** @description The score of the last one on the list, where that is full */
            needed: number | null;
            dropped: components["schemas"]["DroppedRow"] | null;
            /** @description How the score came about, step by step */
            reasons: components["schemas"]["StepRow"][];
            /** @description The dearest first */
            costs: components["schemas"]["CostRow"][];
        };
        StatsOutput: {
            entities: number;
            notes: number;
            messages: number;
            /** @description Corrected since, and kept as history */
            superseded: number;
            sessions: number;
            /** @description The model that finds by meaning */
            model: string | null;
            store: components["schemas"]["StoreCounts"];
        };
        StepRow: {
            step: string;
            effect: string;
            value: number;
            numbers: number[];
            /** @description The score after it */
            score: number;
        };
        StoreCounts: {
            observations: number;
            relations: number;
            /** @description `restore` can bring them back */
            forgotten: number;
            texts_with_a_vector: number;
            texts_waiting_for_one: number;
            /** @description Of the whole store, with what belongs to others */
            bytes: number;
            schema: number;
        };
        StoreStateOutput: {
            /** @description file, server or memory */
            kind: string;
            read_only: boolean;
            /** @description Of every owner together */
            counts: components["schemas"]["CountsRow"];
            model: components["schemas"]["ModelRow"] | null;
            leases: components["schemas"]["LeaseRow"][];
            /** @description Those beside the store, the newest first */
            backups: components["schemas"]["BackupRow"][];
            has_replica: boolean;
            replica_problem: string | null;
        };
        SummaryRow: {
            entities: number;
            observations: number;
            notes: number;
        };
        SupersedeByRequest: {
            /** @description The memory that holds instead */
            by?: number | null;
            /** @description Or a new note that says what holds */
            text?: string | null;
            /** @description Retire near-copies of the old one, too; true if not given */
            copies?: boolean | null;
        };
        SupersedeOutput: {
            /** @description What counts from now on */
            id: number;
            /** @description What was named first, then its near-copies */
            retired: components["schemas"]["RetiredRow"][];
            /** @description Alike, and left in force */
            similar: components["schemas"]["SimilarRow"][];
            note?: string;
        };
        /**
         * @example {
         *       "text": "Ines drinks only rooibos since March"
         *     }
         */
        SupersedeRequest: {
            text: string;
            /** @description Such as preferences, work_career */
            category?: string | null;
            importance?: number | null;
            happened_at?: string | null;
            tags?: string[] | null;
            /** @description Names of entities that exist */
            about?: string[] | null;
            source?: string | null;
            expires_at?: string | null;
        };
        TimelineOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            /** @description Those that hold something, in order */
            buckets: components["schemas"]["BucketRow"][];
            /** @description Memories in all of them, on every page */
            total: number;
        };
        ToSettleOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            items: components["schemas"]["ToSettleRow"][];
        };
        ToSettleRow: {
            /** @description For `settle` */
            key: string;
            kind: string;
            /** @description Or the only one */
            older: components["schemas"]["SideRow"];
            newer: components["schemas"]["SideRow"] | null;
            /** @description What `settle` can do about it */
            actions: string[];
            similarity: number | null;
            detail: string;
            dismissed: boolean;
        };
        TokenRow: {
            name: string;
            right: string;
            /** @description Whose memory its holder sees; none: every owner's */
            owner: string | null;
            agent: string | null;
            created_at: string;
            /** @description Its last use, to within a few minutes */
            used_at: string | null;
        };
        TopicRow: {
            name: string;
            /** @description How many observations it has */
            count: number;
            observations: string[];
        };
        TunableNumberRow: {
            name: string;
            published: number;
            now: number;
        };
        TunedRow: {
            version: number;
            profile: string;
            at: string;
            /** @description run, set, reset or rollback */
            why: string;
            says: string | null;
            changes: components["schemas"]["ChangedNumberRow"][];
        };
        TuningChangeOutput: {
            profile: string;
            version: number;
            written: boolean;
            changes: components["schemas"]["ChangedNumberRow"][];
            /** @description Of a search for better numbers: too few, no gain, proposed */
            verdict: string | null;
            says: string | null;
        };
        TuningHistoryOutput: {
            /** @description Pass it on for what comes after; absent at the end */
            cursor?: string;
            /** @description What was left out, and how to get it */
            note?: string;
            versions: components["schemas"]["TunedRow"][];
        };
        TuningStateOutput: {
            profiles: components["schemas"]["ProfileNumbersRow"][];
            log: components["schemas"]["LogRow"];
        };
        UndoDreamOutput: {
            undone: number[];
            changes: number;
            /** @description Memories that were left */
            left: number[];
        };
        UndoDreamRequest: {
            /** @description Undo the dreams after it, too; false if not given */
            later?: boolean | null;
        };
        UndoEntitySplitRequest: {
            undo: components["schemas"]["UndoRow"];
        };
        UndoRow: {
            original: number;
            parts: number[];
            observations: number[];
        };
        UndoSettlingOutput: {
            key: string;
        };
        UndoSettlingRequest: {
            undo: components["schemas"]["SettleUndoRow"];
        };
        UndoSplitOutput: {
            entity_name: string;
            restored: number;
        };
        UpdateOutput: {
            id: number;
        };
        /**
         * @example {
         *       "text": "Ines drinks oolong after dinner",
         *       "importance": 0.8
         *     }
         */
        UpdateRequest: {
            text?: string | null;
            importance?: number | null;
            category?: string | null;
            happened_at?: string | null;
            tags?: string[] | null;
            status?: string | null;
            pinned?: boolean | null;
            expires_at?: string | null;
        };
        UsageRow: {
            shown: number;
            opened: number;
            days: number;
            last_at: string | null;
        };
        VerifyOutput: {
            problems: components["schemas"]["ProblemRow"][];
            total: number;
        };
        VerifyRequest: {
            /** @description Only whether all can be read, and texts are as stored; false if not given */
            quick?: boolean | null;
        };
        VersionRow: {
            text: string;
            since: string;
            until: string | null;
        };
        WhyNotInFullOutput: {
            id: number;
            profile: string;
            verdict: string;
            advice: string[];
            /** @description None where no search could have found it */
            branches: components["schemas"]["BranchRow"][];
            /** @description As if it had been found */
            standing: components["schemas"]["StandingRow"] | null;
        };
        WhyNotInFullRequest: {
            /** @description What was asked */
            query: string;
            id?: number | null;
            /** @description Instead of an id: an entity's name */
            name?: string | null;
            kinds?: components["schemas"]["Kind"][] | null;
            tags?: string[] | null;
            /** @description As the memory stood then */
            as_of?: string | null;
            /** @description Of messages, only those of this session */
            session?: string | null;
            /** @description false if not given */
            include_superseded?: boolean | null;
            limit?: number | null;
            /** @description "recollect" if not given */
            profile?: string | null;
        };
        WhyNotOutput: {
            verdict: string;
            advice: string[];
        };
        /**
         * @example {
         *       "query": "What tea does Ines drink?",
         *       "id": 1
         *     }
         */
        WhyNotRequest: {
            query: string;
            id?: number | null;
            /** @description Instead of an id: an entity's name */
            name?: string | null;
            limit?: number | null;
            /** @description recollect if not given, limbic, mnemosyne, reverie or cognis */
            profile?: string | null;
        };
        /**
         * @description Problem details, RFC 9457
         * @example {
         *       "type": "urn:recollect:problem:not-found",
         *       "title": "It is not there",
         *       "status": 404,
         *       "detail": "There is no memory 7. Ids stand after # in what `recall` answers."
         *     }
         */
        Problem: {
            /** @description A URN that names the kind of problem */
            type: string;
            title: string;
            status: number;
            /** @description What went wrong, and what to do next */
            detail: string;
            /** @description What is wrong with single arguments */
            errors?: {
                detail: string;
                /** @description Where, as a JSON pointer */
                pointer?: string;
            }[];
            /** @description Of a request that was refused at the door: its kind */
            error?: string;
            /** @description Of such a request: the same as `detail` */
            message?: string;
        };
    };
    responses: {
        /** @description The request cannot be read. */
        400: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The token is missing or wrong. */
        401: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The token does not allow it. */
        403: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description It is not there. */
        404: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description It contradicts what the store holds. */
        409: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description Somebody changed it since; nothing was written. */
        412: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The request is too large. */
        413: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The body is not JSON. */
        415: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The arguments are wrong; `errors` says where. */
        422: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description The store cannot be used now; try again after `Retry-After` seconds. */
        503: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description It was given up; ask for less. */
        504: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: {
        /** @description Whose memory it is; the server's own, or the token's, if not given */
        owner: string;
        /** @description Of which agent; of none if not given */
        agent: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    recall: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecallRequest"];
            };
        };
        responses: {
            /** @description Recall */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecallOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    context: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ContextRequest"];
            };
        };
        responses: {
            /** @description Context */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContextOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    explain: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExplainRequest"];
            };
        };
        responses: {
            /** @description Explain a ranking */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    why_not: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WhyNotRequest"];
            };
        };
        responses: {
            /** @description Why not */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhyNotOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    why_not_in_full: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WhyNotInFullRequest"];
            };
        };
        responses: {
            /** @description Why not, in full */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WhyNotInFullOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    feedback: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["FeedbackRequest"];
            };
        };
        responses: {
            /** @description Feedback */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedbackOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    list_memories: {
        parameters: {
            query?: {
                /** @description Notes if not given */
                kinds?: components["schemas"]["Kind"][];
                category?: string;
                /** @description Only what has all of these */
                tags?: string[];
                session?: string;
                /** @description false if not given */
                include_superseded?: boolean;
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List memories */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListMemoriesOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    remember: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description With the same key again, the first answer is told and nothing is written, for 30 days */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RememberRequest"];
            };
        };
        responses: {
            /** @description It was known already */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RememberOutput"];
                };
            };
            /** @description Remember */
            201: {
                headers: {
                    /** @description Where it is */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RememberOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    get_memory: {
        parameters: {
            query?: {
                /** @description Last answers that showed it; 20 if not given */
                showings?: number;
                /** @description As it read at this moment */
                as_of?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description The ETag of an earlier answer; 304 where nothing has changed */
                "If-None-Match"?: string;
            };
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a memory */
            200: {
                headers: {
                    /** @description Its version, for `If-Match` and `If-None-Match` */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetMemoryOutput"];
                };
            };
            /** @description Nothing has changed */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    forget: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description The ETag of what you read; 412, and nothing is written, where somebody changed it since */
                "If-Match"?: string;
            };
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Forget */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForgetOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    update: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description The ETag of what you read; 412, and nothing is written, where somebody changed it since */
                "If-Match"?: string;
            };
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateRequest"];
            };
        };
        responses: {
            /** @description Update */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UpdateOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    forget_many: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ForgetManyRequest"];
            };
        };
        responses: {
            /** @description Forget */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForgetOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    remember_many: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description With the same key again, the first answer is told and nothing is written, for 30 days */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RememberManyRequest"];
            };
        };
        responses: {
            /** @description Remember many */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RememberManyOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    supersede_by: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description With the same key again, the first answer is told and nothing is written, for 30 days */
                "Idempotency-Key"?: string;
                /** @description The ETag of what you read; 412, and nothing is written, where somebody changed it since */
                "If-Match"?: string;
            };
            path: {
                /** @description What no longer holds */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SupersedeByRequest"];
            };
        };
        responses: {
            /** @description Supersede */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SupersedeOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    history: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description History */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HistoryOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    browse: {
        parameters: {
            query?: {
                /** @description Of every kind if not given */
                kinds?: components["schemas"]["Kind"][];
                /** @description in_force: what searches find; all: whatever became of it; "in_force" if not given */
                state?: "in_force" | "forgotten" | "superseded" | "expired" | "all";
                category?: string;
                /** @description Only what has all of these */
                tags?: string[];
                session?: string;
                /** @description Texts that speak of the entity with this id */
                entity?: number;
                /** @description active, paused, completed or archived */
                status?: string;
                pinned?: boolean;
                /** @description Texts, names or observations that contain this, letters in any case */
                contains?: string;
                /** @description ISO 8601 */
                since?: string;
                until?: string;
                /** @description Which time since and until are compared with; "happened" if not given */
                time?: "happened" | "stored";
                /** @description newest, oldest: by when it was stored; most_used and last_shown list what was shown; "newest" if not given */
                order?: "newest" | "oldest" | "importance" | "most_used" | "last_shown";
                /** @description Rows on a page; 50 if not given */
                limit?: number;
                /** @description What the page before gave as its `cursor` */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Browse */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BrowseOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    timeline: {
        parameters: {
            query?: {
                /** @description day, week (from Monday) or month; "day" if not given */
                unit?: "day" | "week" | "month";
                /** @description happened: when it was so; stored: when it was learnt; "happened" if not given */
                time?: "happened" | "stored";
                /** @description ISO 8601 */
                since?: string;
                until?: string;
                /** @description Of every kind if not given */
                kinds?: components["schemas"]["Kind"][];
                /** @description "in_force" if not given */
                state?: "in_force" | "forgotten" | "superseded" | "expired" | "all";
                /** @description Rows on a page; 1000 if not given */
                limit?: number;
                /** @description What the page before gave as its `cursor` */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Timeline */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TimelineOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    list_tags: {
        parameters: {
            query?: {
                /** @description Rows on a page; 100 if not given */
                limit?: number;
                /** @description What the page before gave as its `cursor` */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List tags */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NamesOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    list_categories: {
        parameters: {
            query?: {
                /** @description Rows on a page; 100 if not given */
                limit?: number;
                /** @description What the page before gave as its `cursor` */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List categories */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NamesOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    restore: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description The ETag of what you read; 412, and nothing is written, where somebody changed it since */
                "If-Match"?: string;
            };
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RestoreRequest"];
            };
        };
        responses: {
            /** @description Restore */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RestoreOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    supersede: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description With the same key again, the first answer is told and nothing is written, for 30 days */
                "Idempotency-Key"?: string;
                /** @description The ETag of what you read; 412, and nothing is written, where somebody changed it since */
                "If-Match"?: string;
            };
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SupersedeRequest"];
            };
        };
        responses: {
            /** @description It was known already */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RememberOutput"];
                };
            };
            /** @description Remember */
            201: {
                headers: {
                    /** @description Where it is */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RememberOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    session_messages: {
        parameters: {
            query?: {
                /** @description false if not given */
                newest_first?: boolean;
                /** @description Rows on a page; 100 if not given */
                limit?: number;
                /** @description What the page before gave as its `cursor` */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                session: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Messages of a session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionMessagesOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    add_messages: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description With the same key again, the first answer is told and nothing is written, for 30 days */
                "Idempotency-Key"?: string;
            };
            path: {
                session: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddMessagesRequest"];
            };
        };
        responses: {
            /** @description Save messages */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddMessagesOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    clear_session: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                session: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Clear a session */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ClearSessionOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    list_sessions: {
        parameters: {
            query?: {
                /** @description Rows on a page; 50 if not given */
                limit?: number;
                /** @description What the page before gave as its `cursor` */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List sessions */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListSessionsOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    add_reflection: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddReflectionRequest"];
            };
        };
        responses: {
            /** @description It was known already */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddReflectionOutput"];
                };
            };
            /** @description Add a reflection */
            201: {
                headers: {
                    /** @description Where it is */
                    Location?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddReflectionOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    search_reflections: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchReflectionsRequest"];
            };
        };
        responses: {
            /** @description Search reflections */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchReflectionsOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    search_nodes: {
        parameters: {
            query: {
                query: string;
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Search nodes */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GraphRows"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    create_entities: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description With the same key again, the first answer is told and nothing is written, for 30 days */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateEntitiesRequest"];
            };
        };
        responses: {
            /** @description Create entities */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateEntitiesOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    search_semantic: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchSemanticRequest"];
            };
        };
        responses: {
            /** @description Search by meaning */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SearchSemanticOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    list_entities: {
        parameters: {
            query?: {
                type?: string;
                /** @description Only names that contain this, letters in any case */
                contains?: string;
                /** @description "name" if not given */
                order?: "name" | "newest" | "most_mentioned";
                /** @description Rows on a page; 100 if not given */
                limit?: number;
                /** @description What the page before gave as its `cursor` */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List entities */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListEntitiesOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    open_nodes: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["OpenNodesRequest"];
            };
        };
        responses: {
            /** @description Open nodes */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GraphRows"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    delete_entities: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeleteEntitiesRequest"];
            };
        };
        responses: {
            /** @description Delete entities */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    open_entity: {
        parameters: {
            query?: {
                kinds?: string[];
                /** @description false if not given */
                include_superseded?: boolean;
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description The ETag of an earlier answer; 304 where nothing has changed */
                "If-None-Match"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Open nodes */
            200: {
                headers: {
                    /** @description Its version, for `If-Match` and `If-None-Match` */
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GraphRows"];
                };
            };
            /** @description Nothing has changed */
            304: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    delete_entity: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description The ETag of what you read; 412, and nothing is written, where somebody changed it since */
                "If-Match"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Delete entities */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    set_status: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description The ETag of what you read; 412, and nothing is written, where somebody changed it since */
                "If-Match"?: string;
            };
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetStatusRequest"];
            };
        };
        responses: {
            /** @description Set a status */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    neighbours: {
        parameters: {
            query?: {
                /** @description 1 if not given */
                depth?: number;
                /** @description ISO 8601 */
                as_of?: string;
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Neighbours */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["NeighboursOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    add_observations: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description With the same key again, the first answer is told and nothing is written, for 30 days */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AddObservationsRequest"];
            };
        };
        responses: {
            /** @description Add observations */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddObservationsOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    delete_observations: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeleteObservationsRequest"];
            };
        };
        responses: {
            /** @description Delete observations */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    create_relations: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description With the same key again, the first answer is told and nothing is written, for 30 days */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateRelationsRequest"];
            };
        };
        responses: {
            /** @description Create relations */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateRelationsOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    end_relation: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EndRelationRequest"];
            };
        };
        responses: {
            /** @description End a relation */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    delete_relations: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["DeleteRelationsRequest"];
            };
        };
        responses: {
            /** @description Delete relations */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Done"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    read_graph: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Read the graph */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GraphRows"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    find_paths: {
        parameters: {
            query: {
                from: string;
                to: string;
                /** @description At most so many relations; 4 if not given */
                depth?: number;
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Find paths */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PathsOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    list_dreams: {
        parameters: {
            query?: {
                /** @description Rows on a page; 20 if not given */
                limit?: number;
                /** @description What the page before gave as its `cursor` */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List dreams */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListDreamsOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    dream: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DreamRequest"];
            };
        };
        responses: {
            /** @description Dream */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DreamOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    preview_dream: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["PreviewDreamRequest"];
            };
        };
        responses: {
            /** @description Preview a dream */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PreviewDreamOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    undo_dream: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                /** @description The dream's number */
                id: number;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UndoDreamRequest"];
            };
        };
        responses: {
            /** @description Undo a dream */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UndoDreamOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    forecast: {
        parameters: {
            query?: {
                /** @description How far to look ahead; 365 if not given */
                days?: number;
                /** @description Rows on a page; 50 if not given */
                limit?: number;
                /** @description What the page before gave as its `cursor` */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Forecast */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForecastOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    get_dream: {
        parameters: {
            query?: {
                /** @description Only changes of this sort, such as strength or merged */
                what?: string;
                /** @description Rows on a page; 100 if not given */
                limit?: number;
                /** @description What the page before gave as its `cursor` */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get a dream */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetDreamOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    to_settle: {
        parameters: {
            query?: {
                /** @description Those that were kept as they are, instead; false if not given */
                dismissed?: boolean;
                /** @description Days without use; 90 if not given */
                stale_days?: number;
                /** @description Rows on a page; 50 if not given */
                limit?: number;
                /** @description What the page before gave as its `cursor` */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                kind: "contradiction" | "similar_notes" | "similar_observations" | "split" | "stale";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What to settle */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToSettleOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    settle: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SettleRequest"];
            };
        };
        responses: {
            /** @description Settle */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SettleOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    undo_settling: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UndoSettlingRequest"];
            };
        };
        responses: {
            /** @description Undo a decision */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UndoSettlingOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    list_answers: {
        parameters: {
            query?: {
                profile?: string;
                /** @description true: only those with feedback; false: only those without */
                judged?: boolean;
                /** @description Only those with feedback on this memory */
                memory?: number;
                /** @description Only questions that contain this */
                contains?: string;
                /** @description Rows on a page; 50 if not given */
                limit?: number;
                /** @description What the page before gave as its `cursor` */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List answers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListAnswersOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    get_answer: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Get an answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetAnswerOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    replay_answer: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                id: number;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Replay an answer */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReplayAnswerOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    empty_log: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyLogRequest"];
            };
        };
        responses: {
            /** @description Empty the log */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EmptyLogOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    self_test: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SelfTestRequest"];
            };
        };
        responses: {
            /** @description Self-test */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SelfTestOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    confidence_curve: {
        parameters: {
            query?: {
                /** @description Questions to ask at most; 100 if not given */
                sample?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Confidence curve */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ConfidenceCurveOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    tuning_state: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tuning state */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TuningStateOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    analyze_tuning: {
        parameters: {
            query?: {
                /** @description The default if not given */
                profile?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Analyze tuning */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalyzeTuningOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    tuning_history: {
        parameters: {
            query?: {
                profile?: string;
                /** @description Rows on a page; 50 if not given */
                limit?: number;
                /** @description What the page before gave as its `cursor` */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Tuning history */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TuningHistoryOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    run_tuning: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RunTuningRequest"];
            };
        };
        responses: {
            /** @description Run tuning */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TuningChangeOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    set_numbers: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SetNumbersRequest"];
            };
        };
        responses: {
            /** @description Set numbers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TuningChangeOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    reset_numbers: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ResetNumbersRequest"];
            };
        };
        responses: {
            /** @description Reset numbers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TuningChangeOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    rollback_tuning: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RollbackTuningRequest"];
            };
        };
        responses: {
            /** @description Roll tuning back */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TuningChangeOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    stats: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Statistics */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatsOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    consolidation_report: {
        parameters: {
            query?: {
                /** @description Days without use; 90 if not given */
                stale_days?: number;
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Consolidation report */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    find_duplicate_observations: {
        parameters: {
            query?: {
                /** @description Only this entity; all if not given */
                entity_name?: string;
                /** @description Similarity from 0 to 1; 0.85 if not given */
                threshold?: number;
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Find duplicate observations */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FindDuplicatesOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    find_split_candidates: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Find split candidates */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SplitCandidatesOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    analyze_entity_split: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                /** @description The entity's exact name */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Analyze a split */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AnalyzeSplitOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    execute_entity_split: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: {
                /** @description The ETag of what you read; 412, and nothing is written, where somebody changed it since */
                "If-Match"?: string;
            };
            path: {
                /** @description The entity's exact name */
                name: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ExecuteEntitySplitRequest"];
            };
        };
        responses: {
            /** @description Execute a split */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExecuteSplitOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            412: components["responses"]["412"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    propose_entity_split: {
        parameters: {
            query?: {
                limit?: number;
                cursor?: string;
                budget_tokens?: number;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                /** @description The entity's exact name */
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Propose a split */
            200: {
                headers: {
                    /** @description The next page, with rel=next */
                    Link?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ProposeSplitOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    undo_entity_split: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UndoEntitySplitRequest"];
            };
        };
        responses: {
            /** @description Undo a split */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UndoSplitOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    doctor: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Doctor */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DoctorOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    store_state: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description State of the store */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StoreStateOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    verify: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["VerifyRequest"];
            };
        };
        responses: {
            /** @description Verify */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VerifyOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    backup: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["BackupRequest"];
            };
        };
        responses: {
            /** @description Back up */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BackupOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    reindex: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReindexRequest"];
            };
        };
        responses: {
            /** @description Reindex */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReindexOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    purge: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PurgeRequest"];
            };
        };
        responses: {
            /** @description Purge */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PurgeOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    purge_forgotten: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PurgeForgottenRequest"];
            };
        };
        responses: {
            /** @description Purge all that was forgotten */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PurgeOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    import_text: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ImportTextRequest"];
            };
        };
        responses: {
            /** @description Import */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportTextOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    export: {
        parameters: {
            query?: {
                /** @description "full" if not given */
                format?: "official" | "full";
                /** @description Rows on a page; 500 if not given */
                limit?: number;
                /** @description What the page before gave as its `cursor` */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Export */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExportOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    migrate: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MigrateRequest"];
            };
        };
        responses: {
            /** @description Migrate */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MigrateOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    latencies: {
        parameters: {
            query?: {
                /** @description Only of this one, such as recall */
                operation?: string;
                /** @description Only from this minute on */
                since?: string;
                /** @description Rows on a page; 500 if not given */
                limit?: number;
                /** @description What the page before gave as its `cursor` */
                cursor?: string;
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Latencies */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LatenciesOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    list_tokens: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description List tokens */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListTokensOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
    create_token: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTokenRequest"];
            };
        };
        responses: {
            /** @description Create a token */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateTokenOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            415: components["responses"]["415"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    revoke_token: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path: {
                name: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Revoke a token */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RevokeTokenOutput"];
                };
            };
            400: components["responses"]["400"];
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            404: components["responses"]["404"];
            409: components["responses"]["409"];
            413: components["responses"]["413"];
            422: components["responses"]["422"];
            503: components["responses"]["503"];
        };
    };
    live: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether the process lives */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        status: string;
                        reason?: string;
                    };
                };
            };
        };
    };
    ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Whether the store opens and answers */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        status: string;
                        reason?: string;
                    };
                };
            };
            /** @description It does not; `reason` says why */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        status: string;
                        reason?: string;
                    };
                };
            };
        };
    };
    metrics: {
        parameters: {
            query?: {
                /** @description Whose memory it is; the server's own, or the token's, if not given */
                owner?: components["parameters"]["owner"];
                /** @description Of which agent; of none if not given */
                agent?: components["parameters"]["agent"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Counts and latencies for Prometheus */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain; version=0.0.4; charset=utf-8": string;
                };
            };
            401: components["responses"]["401"];
            403: components["responses"]["403"];
            503: components["responses"]["503"];
            504: components["responses"]["504"];
        };
    };
}
