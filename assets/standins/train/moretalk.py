"""More small talk, for the last stage of the training only: its words are no whole tokens, so that
a message in unusual pieces is none that needs a tool either.

Standard library only; `questions.SMALL_TALK` holds none of it.
"""

from __future__ import annotations

TALK: dict[str, tuple[str, ...]] = {
    "en": tuple(
        """I slept badly.|I had a wonderful evening with my brother.|My neighbour is rather loud.
I lost my umbrella again.|We danced until midnight.|That joke was terrible.|This soup tastes awful.
I will call my aunt later.|Everything is fine here.|I am proud of you.|You look tired.
You sound like a poet.|I cannot believe it!|What a surprise!|What a lovely idea!|How sweet of you!
How boring.|So what?|Who cares?|Whatever you say.|Be honest with me.|Give me a moment to think.
Let me introduce myself.|Nice to see you again.|It was a pleasure.|I owe you a coffee.
Many thanks, you saved my day.|Thanks a million!|That helped me a lot.|I appreciate your patience.
Pardon me, I was distracted.|Forgive my bad spelling.|I did not mean to be rude.|I was only joking.
Are you angry?|Are you listening?|Did you sleep well?|Did you miss me?|Have you eaten?
Do you ever get bored?|Would you like some tea?|Shall we start over?
May I ask something personal?
What would you do with a million?|What inspires you?
Which season do you prefer?|Who taught you to speak?|Why do people laugh?|Why are you so quiet?
How do birds find their way?|How can I become more confident?|How would you describe yourself?
Teach me a proverb.|Tell me why I should learn to cook.|Describe a sunset.|Invent a new word.
Write two lines about friendship.|Compose a limerick.|Cheer me up.
Wish me luck for my exam.|Guess what happened!|Imagine you were a dragon.|Pretend to be a pirate.
My grandmother bakes the best bread.|My car would not start.|Our cat is called Minka.
The concert was amazing.|The lecture lasted forever.|The children are asleep.|The coffee is cold.
Summer is over.|Life is short.|Time flies.|Practice makes perfect.|Better late than never.
I feel dizzy.|I feel much better now.|I dreamt of flying.|I miss my home.|I am freezing.
I am bored to death.|I am looking for inspiration.|I wonder what comes next.|I changed my mind.
I disagree with that.|I forgot what I wanted to say.|I would rather stay in bed.|Enough for today.
No thanks, maybe another time.|Not now.|Not at all.|Absolutely!|Exactly.|Of course not.|Hooray!
Ouch!|Well, well.|Oh dear.|Good heavens!|See you around.|Until next time.|Sweet dreams!""".replace(
            "\n", "|"
        ).split("|")
    ),
    "zh": tuple(
        """昨晚没睡好。|和弟弟过了一个愉快的晚上。|邻居太吵了。|我又把伞弄丢了。|我们跳舞跳到半夜。
这个笑话真冷。|这汤难喝死了。|我待会儿给姑姑打电话。|这里一切都好。|我为你骄傲。|你看起来很累。
你说话像个诗人。|简直不敢相信！|真没想到！|好主意！|你人真好！|无聊。|那又怎样？|谁在乎呢？|随你怎么说。
跟我说实话。|让我想一想。|先介绍一下我自己。|很高兴再次见到你。|别客气。|改天请你喝咖啡。
多谢，你帮了大忙。|万分感谢！|对我很有帮助。|谢谢你的耐心。|不好意思，走神了。|请原谅我的错别字。
我不是故意的。|开个玩笑而已。|你在听吗？|昨晚睡得好吗？|你想我了吗？|吃过了吗？
你会觉得无聊吗？|要不要喝杯茶？|我们重来好吗？|能问个私人问题吗？
你怎么看现代艺术？|给你一百万你会做什么？|什么能激励你？|你更喜欢哪个季节？
谁教你说话的？|人为什么会笑？|你怎么这么安静？|鸟儿怎么认路？|怎样才能更自信？|你会怎样形容自己？
教我一句谚语。|说说我为什么该学做饭。|描写一下日落。|发明一个新词。|写两句关于友情的话。|来一首打油诗。
给我打打气。|祝我考试顺利吧。|你猜发生了什么！|想象你是一条龙。|假装你是海盗。
奶奶烤的面包最好吃。|我的车发动不了。|我家的猫叫咪咪。|演唱会太精彩了。|讲座没完没了。|孩子们睡着了。
咖啡凉了。|夏天过去了。|人生苦短。|时间过得真快。|熟能生巧。|迟到总比不到好。|头有点晕。|现在好多了。
我梦见自己在飞。|我想家了。|冻死我了。|快闷死了。|我在找灵感。|不知道接下来会怎样。|我改主意了。
我不赞成。|忘了要说什么。|我宁愿待在床上。|今天到此为止。|下次吧，多谢。|现在不行。|一点也不。
绝对是！|正是如此。|当然不是。|万岁！|哎哟！|好吧好吧。|天哪！|糟糕！|回头见。|下回再聊。|做个好梦！
你在笑什么？|别闹了。|真拿你没办法。|我快迟到了。|外面好热闹。|我又长胖了。""".replace(
            "\n", "|"
        ).split("|")
    ),
}
