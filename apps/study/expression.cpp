// SPDX-License-Identifier: BSD-3-Clause
#include "apps/study/expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.hpp"
#include "io/deck.hpp"

namespace hyperplane {
namespace {

using Value = std::variant<bool, double, std::string>;

std::optional<double> number_in(const std::string& text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
    return value;
}

std::string shown(const Value& value) {
    if (const bool* truth = std::get_if<bool>(&value)) return *truth ? "true" : "false";
    if (const double* number = std::get_if<double>(&value)) return fmt::format("the number {}", *number);
    return fmt::format("the text '{}'", std::get<std::string>(value));
}

/// A recursive descent parser: a function for each level of precedence, which returns the value of what it has read.
class Evaluator {
public:
    Evaluator(const std::string& text, const std::map<std::string, std::string>& values)
        : text_(text), values_(values) {
        advance();
    }

    bool evaluate() {
        const Value value = disjunction();
        if (!token_.empty())
            fail(fmt::format("'{}' is not expected here; values are joined by and, or, comparisons and + - * / %",
                             token_));
        return truth(value, 0);
    }

private:
    [[noreturn]] void fail(const std::string& what) const { fail_at(begin_, what); }
    [[noreturn]] void fail_at(std::size_t at, const std::string& what) const {
        throw UsageError(fmt::format("column {} of '{}': {}", at + 1, text_, what));
    }

    /// Reads the next token: a word or number, a quoted text with its quotes, or an operator; "" at the end.
    void advance() {
        while (next_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[next_]))) ++next_;
        begin_ = next_;
        if (next_ == text_.size()) return token_.clear();
        const auto in_word = [&](std::size_t at) {
            const unsigned char c = static_cast<unsigned char>(text_[at]);
            const bool exponent_sign = (c == '+' || c == '-') &&
                                       std::isdigit(static_cast<unsigned char>(text_[begin_])) &&
                                       (text_[at - 1] == 'e' || text_[at - 1] == 'E');
            return std::isalnum(c) || c == '_' || c == '.' || c >= 0x80 || exponent_sign;
        };
        if (text_[next_] == '\'') {
            const std::size_t end = text_.find('\'', next_ + 1);
            if (end == std::string::npos) fail("the closing ' is missing");
            next_ = end + 1;
        } else if (in_word(next_)) {
            while (next_ < text_.size() && in_word(next_)) ++next_;
        } else {
            static const std::vector<std::string> pairs = {"==", "!=", "<=", ">="};
            next_ += std::find(pairs.begin(), pairs.end(), text_.substr(next_, 2)) != pairs.end() ? 2 : 1;
        }
        token_ = text_.substr(begin_, next_ - begin_);
    }

    /// Takes the token if it is one of these.
    std::optional<std::string> take(const std::vector<std::string>& expected) {
        if (std::find(expected.begin(), expected.end(), token_) == expected.end()) return std::nullopt;
        const std::string taken = token_;
        advance();
        return taken;
    }

    bool truth(const Value& value, std::size_t at) const {
        if (const bool* truth = std::get_if<bool>(&value)) return *truth;
        fail_at(at, shown(value) + " is neither true nor false; compare it with something");
    }
    double number(const Value& value, std::size_t at) const {
        if (const double* number = std::get_if<double>(&value)) return *number;
        fail_at(at, shown(value) + " is no number");
    }

    Value disjunction() {
        const std::size_t at = begin_;
        Value value = conjunction();
        while (take({"or"})) {
            const std::size_t right_at = begin_;
            const bool right = truth(conjunction(), right_at);
            value = truth(value, at) || right;
        }
        return value;
    }

    Value conjunction() {
        const std::size_t at = begin_;
        Value value = negation();
        while (take({"and"})) {
            const std::size_t right_at = begin_;
            const bool right = truth(negation(), right_at);
            value = truth(value, at) && right;
        }
        return value;
    }

    Value negation() {
        if (!take({"not"})) return comparison();
        const std::size_t at = begin_;
        return !truth(negation(), at);
    }

    Value comparison() {
        static const std::vector<std::string> operators = {"==", "!=", "<", "<=", ">", ">="};
        const std::size_t at = begin_;
        const Value left = sum();
        if (token_ == "=") fail("= does not compare; write ==");
        const auto comparing = take(operators);
        if (!comparing) return left;
        const Value right = sum();
        if (std::find(operators.begin(), operators.end(), token_) != operators.end())
            fail("two comparisons in a row; join them with and");
        if (left.index() != right.index()) fail_at(at, fmt::format("compares {} with {}", shown(left), shown(right)));
        if (*comparing == "==") return left == right;
        if (*comparing == "!=") return left != right;
        const double a = number(left, at), b = number(right, at);
        if (*comparing == "<") return a < b;
        if (*comparing == "<=") return a <= b;
        return *comparing == ">" ? a > b : a >= b;
    }

    Value sum() {
        const std::size_t at = begin_;
        Value value = product();
        while (const auto sign = take({"+", "-"})) {
            const std::size_t right_at = begin_;
            const double right = number(product(), right_at);
            value = number(value, at) + (*sign == "+" ? right : -right);
        }
        return value;
    }

    Value product() {
        const std::size_t at = begin_;
        Value value = operand();
        while (const auto sign = take({"*", "/", "%"})) {
            const std::size_t right_at = begin_;
            const double left = number(value, at), right = number(operand(), right_at);
            if (*sign != "*" && right == 0.0) fail_at(right_at, "divides by zero");
            value = *sign == "*" ? left * right : *sign == "/" ? left / right : std::fmod(left, right);
        }
        return value;
    }

    Value operand() {
        const std::size_t at = begin_;
        if (take({"-"})) return -number(operand(), at);
        if (take({"("})) {
            const Value value = disjunction();
            if (!take({")"})) fail("the ) is missing");
            return value;
        }
        static const std::vector<std::string> joining = {"and", "or", "not"};
        const bool is_operand = !token_.empty() && (token_[0] == '\'' || token_[0] == '_' || token_[0] == '.' ||
                                                    std::isalnum(static_cast<unsigned char>(token_[0])));
        if (!is_operand || std::find(joining.begin(), joining.end(), token_) != joining.end())
            fail(token_.empty() ? "ends where a value is expected" : fmt::format("expected a value, got '{}'", token_));
        const std::string word = token_;
        const Value value = meaning(word);
        advance();
        return value;
    }

    Value meaning(const std::string& word) const {
        if (word[0] == '\'') return word.substr(1, word.size() - 2);
        if (const auto value = number_in(word)) return *value;
        if (word == "true" || word == "false") return word == "true";
        if (word.find('.') == std::string::npos) {
            for (const auto& [name, value] : values_)
                if (name.substr(name.find('.') + 1) == word)
                    fail(fmt::format("write {}, with its section; a text goes in single quotes", name));
            return word;
        }
        const auto at = values_.find(word);
        if (at == values_.end())
            fail(fmt::format("{} is no key that [sweep] varies{}; a text with a full stop goes in single quotes", word,
                             known(word)));
        if (const auto value = number_in(at->second)) return *value;
        if (at->second == "true" || at->second == "false") return at->second == "true";
        return at->second;
    }

    std::string known(const std::string& word) const {
        std::vector<std::string> names;
        for (const auto& [name, value] : values_) names.push_back(name);
        const std::string near = nearest(word, names);
        return near.empty() ? fmt::format("; it varies {}", fmt::join(names, ", ")) : "; did you mean " + near + "?";
    }

    const std::string& text_;
    const std::map<std::string, std::string>& values_;
    std::string token_;
    std::size_t begin_ = 0, next_ = 0;  ///< where the token begins, and where it ends
};

}  // namespace

std::string condition_of(const std::map<std::string, std::string>& values) {
    const auto is_word = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
    std::vector<std::string> parts;
    for (const auto& [name, value] : values) {
        const bool bare = !value.empty() && (number_in(value) || std::all_of(value.begin(), value.end(), is_word));
        parts.push_back(fmt::format("{} == {}", name, bare ? value : "'" + value + "'"));
    }
    return fmt::format("{}", fmt::join(parts, " and "));
}

bool holds(const std::string& condition, const std::map<std::string, std::string>& values) {
    return Evaluator(condition, values).evaluate();
}

}  // namespace hyperplane
